"""The database of a run: SQLite in WAL mode, so that others can read while it is written.

Every row is committed with the step that made it; a crash loses at most what was not finished.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foible.errors import StoreError
from foible.names import Arm, Status
from foible.records import Finding, Outcome, Probabilities, Verdict

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 2  # of the database, in PRAGMA user_version; `store/migrate.py` brings earlier runs up to it

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, label INTEGER NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL,
  origin_predicted INTEGER NOT NULL, evaluations INTEGER NOT NULL, rounds INTEGER NOT NULL, best_score REAL,
  target INTEGER NOT NULL, findings INTEGER NOT NULL, PRIMARY KEY (arm, attempt));
CREATE TABLE IF NOT EXISTS findings (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL, label INTEGER NOT NULL, target INTEGER NOT NULL,
  predicted INTEGER NOT NULL, evaluations INTEGER NOT NULL, rounds INTEGER NOT NULL, latent_distance REAL NOT NULL,
  pixel_distance REAL NOT NULL, latent_shape TEXT NOT NULL, latent BLOB NOT NULL, origin_latent BLOB NOT NULL,
  image TEXT NOT NULL, origin_image TEXT NOT NULL, image_sha256 TEXT NOT NULL, origin_sha256 TEXT NOT NULL,
  verdicts TEXT NOT NULL, PRIMARY KEY (arm, attempt, number));
CREATE TABLE IF NOT EXISTS outputs (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL, role TEXT NOT NULL, moment TEXT NOT NULL,
  probabilities TEXT NOT NULL, PRIMARY KEY (arm, attempt, number, role, moment));
CREATE TABLE IF NOT EXISTS measures (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,
  PRIMARY KEY (arm, attempt, number, name));
CREATE TABLE IF NOT EXISTS checkpoints (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (arm, attempt));
CREATE TABLE IF NOT EXISTS memories (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (arm, attempt));
CREATE TABLE IF NOT EXISTS shared (
  arm TEXT NOT NULL, wave INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (arm, wave));
"""
TABLES = ("facts", "outcomes", "findings", "outputs", "measures", "checkpoints", "memories", "shared")

WHOLE_FINDINGS = """
SELECT *,
  (SELECT json_group_array(json_array(o.role, o.moment, json(o.probabilities))) FROM outputs o
   WHERE o.arm = f.arm AND o.attempt = f.attempt AND o.number = f.number) AS outputs,
  (SELECT json_group_object(m.name, m.value) FROM measures m
   WHERE m.arm = f.arm AND m.attempt = f.attempt AND m.number = f.number) AS measures
FROM findings f
"""


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones that say what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        hint = "check the disk"
        if "full" in text or "I/O" in text:
            hint = "the disk is full or failing: free some space, then run the same command to go on"
        elif "locked" in text:
            hint = "another process holds it: wait for it or stop it"
        elif "readonly" in text or "unable to open" in text:
            hint = "choose a folder you may write to with --out"
        raise StoreError(f"database '{path}': {text}", hint) from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"database '{path}' is damaged: {error}", f"keep what is sound with: foible resume {path.parent} --repair"
        ) from error


def connect(path: Path, write: bool = False) -> sqlite3.Connection:
    """Open a run's database."""
    with database_errors(path):
        if not write:
            connection = read_only(path)
            if not refuse_other_format(path, connection):
                raise StoreError(f"'{path.parent}' has only just begun: nothing is stored yet", "try again in a moment")
            return connection
        connection = sqlite3.connect(path, timeout=10, check_same_thread=False)  # one thread at a time: the recorder's
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        verdict = connection.execute("PRAGMA quick_check").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(str(verdict).splitlines()[0])
        connection.execute("PRAGMA trusted_schema=OFF")
        refuse_other_format(path, connection)
        connection.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;")  # nobody sees a part of it
        return connection


def read_only(path: Path) -> sqlite3.Connection:
    """Open any database for reading; what it defines itself, such as views, may call no function that does harm."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=10, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema=OFF")
    return connection


def refuse_other_format(path: Path, connection: sqlite3.Connection) -> bool:
    """A run of another release is named as such; gives whether there is a run at all."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if found == FORMAT or "outcomes" not in tables:
        return "outcomes" in tables
    raise other_format(path.parent, found or 1)


def other_format(folder: Path, found: int) -> StoreError:
    """What to say of a run of another release."""
    if found > FORMAT:
        return StoreError(
            f"'{folder}' was made by a later release (format {found}, this one reads {FORMAT})", "update foible"
        )
    return StoreError(
        f"'{folder}' was made by an earlier release (format {found}, this one reads {FORMAT})",
        f"bring it up to date, keeping a copy of its database: foible migrate {folder}",
    )


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    """An outcome as the columns of its table."""
    return dict(vars(outcome))


APART = ("before", "after", "measures")  # of a finding: in tables of their own


def finding_row(finding: Finding) -> dict[str, Any]:
    """A finding as the columns of its table."""
    row = {k: v for k, v in vars(finding).items() if k not in {"latent", "origin_latent", "verdicts", *APART}}
    return row | {
        "latent_shape": json.dumps(list(finding.latent.shape)),
        "latent": to_blob(finding.latent),
        "origin_latent": to_blob(finding.origin_latent),
        "verdicts": json.dumps([asdict(v) for v in finding.verdicts]),
    }


def insert_finding(connection: sqlite3.Connection, finding: Finding) -> None:
    """Insert or replace a finding in its three tables."""
    insert(connection, "findings", finding_row(finding))
    key = {"arm": finding.arm, "attempt": finding.attempt, "number": finding.number}
    for moment, outputs in (("before", finding.before), ("after", finding.after)):
        for role, probabilities in outputs.items():
            row = key | {"role": role, "moment": moment, "probabilities": json.dumps(probabilities)}
            insert(connection, "outputs", row)
    for name, value in finding.measures.items():
        insert(connection, "measures", key | {"name": name, "value": value})


def to_outcome(row: sqlite3.Row) -> Outcome:
    """An outcome read back."""
    facts = dict(row)
    return Outcome(**(facts | {"arm": Arm(facts["arm"]), "status": Status(facts["status"])}))


def to_finding(row: sqlite3.Row) -> Finding:
    """A finding read back from `WHOLE_FINDINGS`."""
    facts = dict(row)
    shape = tuple(json.loads(facts.pop("latent_shape")))
    outputs: dict[str, dict[str, Probabilities]] = {"before": {}, "after": {}}
    for role, moment, probabilities in json.loads(facts.pop("outputs")):
        outputs[moment][role] = tuple(probabilities)
    return Finding(
        **facts
        | outputs
        | {
            "arm": Arm(facts["arm"]),
            "latent": from_blob(facts["latent"], shape),
            "origin_latent": from_blob(facts["origin_latent"], shape),
            "verdicts": tuple(Verdict(**v) for v in json.loads(facts["verdicts"])),
            "measures": json.loads(facts["measures"]),
        }
    )


def to_blob(tensor: Tensor) -> bytes:
    """Exact little-endian float32 bytes: `numpy.frombuffer(blob, "<f4")` reads them without foible."""
    return tensor.detach().cpu().contiguous().numpy().astype("<f4").tobytes()


def from_blob(blob: bytes, shape: tuple[int, ...]) -> Tensor:
    """A tensor read back from its bytes."""
    import numpy as np
    import torch

    return torch.from_numpy(np.frombuffer(blob, "<f4").reshape(shape).astype(np.float32))


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """Insert or replace one row given as column -> value."""
    columns, marks = ", ".join(row), ", ".join("?" for _ in row)
    connection.execute(f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})", list(row.values()))
