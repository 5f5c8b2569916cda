"""Repair: keep what is sound of a damaged run."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

from foible.errors import StoreError
from foible.files import disk_errors
from foible.records import Key
from foible.store.database import TABLES, WHOLE_FINDINGS, connect, database_errors, insert, to_finding, to_outcome
from foible.store.layout import Layout, read_inside
from foible.store.manifest import read_manifest
from foible.store.sound import row_errors, sound_finding, sound_outcome

SALVAGED = tuple(table for table in TABLES if table != "checkpoints")  # unfinished searches begin again
WITH_OUTPUTS = "(SELECT 1 FROM outputs o WHERE o.arm = f.arm AND o.attempt = f.attempt AND o.number = f.number)"


def repair(folder: Path) -> list[str]:
    """Keep what is sound of a damaged run: readable rows whose images are whole. Gives what was dropped.

    Attempts that are dropped are simply searched again on resume, with the same result.
    """
    layout = Layout(folder)
    manifest = read_manifest(folder)
    aside = next(p for n in range(1000) if not (p := layout.database.with_suffix(f".damaged-{n}")).exists())
    with disk_errors(layout.database):
        for suffix in ("-wal", "-shm"):
            extra = layout.database.with_name(layout.database.name + suffix)
            if extra.exists():
                extra.rename(aside.with_name(aside.name + suffix))
        layout.database.rename(aside)
    with connect(layout.database, write=True) as fresh:
        lost = [note for table in SALVAGED for note in _salvage(aside, fresh, table)]
        return lost + _drop_unsound(fresh, len(manifest.classes)) + _drop_without_images(layout, fresh)


def _salvage(source: Path, target: sqlite3.Connection, table: str) -> list[str]:
    """Copy the rows of one table that can still be read, reaching past bad pages by rowid."""
    old = sqlite3.connect(source)
    old.row_factory = sqlite3.Row
    try:
        first, last = old.execute(f"SELECT min(rowid), max(rowid) FROM {table}").fetchone()
    except sqlite3.DatabaseError as error:
        return [f"table {table}: {error}"]
    lost = 0
    for rowid in range(first or 0, (last or -1) + 1):
        try:
            row = old.execute(f"SELECT * FROM {table} WHERE rowid = ?", (rowid,)).fetchone()
            if row is not None:
                insert(target, table, dict(row))
        except sqlite3.DatabaseError:
            lost += 1
    return [f"table {table}: {lost} rows could not be read"] if lost else []


def _drop_unsound(database: sqlite3.Connection, classes: int) -> list[str]:
    """Remove rows that no run writes: labels of no class, numbers that are none, tensors of another size."""
    dropped = []
    checks: dict[str, tuple[str, str, Callable[[sqlite3.Row], object]]] = {
        "outcomes": ("outcome", "SELECT * FROM outcomes", lambda row: sound_outcome(to_outcome(row), classes)),
        "findings": ("failure", WHOLE_FINDINGS, lambda row: sound_finding(to_finding(row), classes)),
    }
    cursor = database.cursor()
    cursor.row_factory = sqlite3.Row
    for table, (called, whole, check) in checks.items():
        names = ("arm", "attempt", "number") if table == "findings" else ("arm", "attempt")
        which = " AND ".join(f"{name} = ?" for name in names)
        for row in database.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall():
            what = f"{called} {row[1]}"
            try:
                with row_errors(what, "the run"), database_errors(Path("the run")):
                    check(cursor.execute(f"{whole} WHERE {which}", row).fetchone())
            except StoreError as error:
                database.execute(f"DELETE FROM {table} WHERE {which}", row)
                dropped.append(f"{what}: {error.message.rpartition(': ')[2]}")
    return dropped


def _drop_without_images(layout: Layout, database: sqlite3.Connection) -> list[str]:
    """Remove findings whose image is missing or changed, and outcomes whose findings are not all there."""
    dropped = []
    query = "SELECT arm, attempt, number, image, image_sha256 FROM findings"
    for arm, attempt, number, image, digest in database.execute(query).fetchall():
        if not _unchanged(layout.folder, image, digest):
            key = (arm, attempt, number)
            database.execute("DELETE FROM findings WHERE arm = ? AND attempt = ? AND number = ?", key)
            dropped.append(f"failure {Key(attempt, number)}: image '{image}' is missing or changed")
    database.execute(f"DELETE FROM findings AS f WHERE NOT EXISTS {WITH_OUTPUTS}")
    database.execute(
        "DELETE FROM outcomes AS o WHERE o.findings != "
        "(SELECT count(*) FROM findings f WHERE f.arm = o.arm AND f.attempt = o.attempt)"
    )
    return dropped


def _unchanged(folder: Path, image: str, digest: str) -> bool:
    try:
        return hashlib.sha256(read_inside(folder, image)).hexdigest() == digest
    except StoreError:
        return False
