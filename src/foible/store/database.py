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
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foible.errors import StoreError
from foible.types import Arm, Finding, Outcome, Status, Verdict

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS outcomes (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, label INTEGER NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL,
  origin_predicted INTEGER NOT NULL, evaluations INTEGER NOT NULL, rounds INTEGER NOT NULL, best_score REAL,
  PRIMARY KEY (arm, attempt));
CREATE TABLE IF NOT EXISTS findings (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, label INTEGER NOT NULL, predicted INTEGER NOT NULL,
  evaluations INTEGER NOT NULL, rounds INTEGER NOT NULL, origin_probabilities TEXT NOT NULL, probabilities TEXT NOT NULL,
  latent_distance REAL NOT NULL, pixel_distance REAL NOT NULL, latent_shape TEXT NOT NULL, latent BLOB NOT NULL,
  origin_latent BLOB NOT NULL, image TEXT NOT NULL, origin_image TEXT NOT NULL, image_sha256 TEXT NOT NULL,
  verdicts TEXT NOT NULL, origin_sha256 TEXT NOT NULL DEFAULT '', PRIMARY KEY (arm, attempt));
CREATE TABLE IF NOT EXISTS checkpoints (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (arm, attempt));
"""
TABLES = ("facts", "outcomes", "findings", "checkpoints")


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
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10, check_same_thread=False
            )
            connection.execute("PRAGMA trusted_schema=OFF")  # a received database may define views and triggers
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        connection = sqlite3.connect(path, timeout=10)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        verdict = connection.execute("PRAGMA quick_check").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(str(verdict).splitlines()[0])
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.executescript(SCHEMA)
        if "origin_sha256" not in {row[1] for row in connection.execute("PRAGMA table_info(findings)")}:
            connection.execute("ALTER TABLE findings ADD COLUMN origin_sha256 TEXT NOT NULL DEFAULT ''")
        return connection


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    """An outcome as the columns of its table."""
    return asdict(outcome)


def finding_row(finding: Finding) -> dict[str, Any]:
    """A finding as the columns of its table."""
    row = {k: v for k, v in vars(finding).items() if k not in {"latent", "origin_latent", "verdicts"}}
    return row | {
        "origin_probabilities": json.dumps(finding.origin_probabilities),
        "probabilities": json.dumps(finding.probabilities),
        "latent_shape": json.dumps(list(finding.latent.shape)),
        "latent": to_blob(finding.latent),
        "origin_latent": to_blob(finding.origin_latent),
        "verdicts": json.dumps([asdict(v) for v in finding.verdicts]),
    }


def to_outcome(row: sqlite3.Row) -> Outcome:
    """An outcome read back."""
    facts = dict(row)
    return Outcome(**(facts | {"arm": Arm(facts["arm"]), "status": Status(facts["status"])}))


def to_finding(row: sqlite3.Row) -> Finding:
    """A finding read back."""
    facts = dict(row)
    shape = tuple(json.loads(facts.pop("latent_shape")))
    return Finding(
        **facts
        | {
            "arm": Arm(facts["arm"]),
            "origin_probabilities": tuple(json.loads(facts["origin_probabilities"])),
            "probabilities": tuple(json.loads(facts["probabilities"])),
            "latent": from_blob(facts["latent"], shape),
            "origin_latent": from_blob(facts["origin_latent"], shape),
            "verdicts": tuple(Verdict(**v) for v in json.loads(facts["verdicts"])),
        }
    )


def to_blob(tensor: Tensor) -> bytes:
    """Exact little-endian float32 bytes: `numpy.frombuffer(blob, "<f4")` reads them without foible."""
    return tensor.detach().cpu().contiguous().numpy().astype("<f4").tobytes()


def from_blob(blob: bytes, shape: tuple[int, ...]) -> Tensor:
    """A tensor read back from its bytes."""
    return torch.from_numpy(np.frombuffer(blob, "<f4").reshape(shape).astype(np.float32))


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    """Insert or replace one row given as column -> value."""
    columns, marks = ", ".join(row), ", ".join("?" for _ in row)
    connection.execute(f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})", list(row.values()))
