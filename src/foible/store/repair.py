"""Repair: keep what is sound of a damaged run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from foible.digest import sha256
from foible.files import disk_errors
from foible.store.database import TABLES, connect, insert
from foible.store.layout import Layout
from foible.store.manifest import read_manifest
from foible.types import Key

SALVAGED = tuple(table for table in TABLES if table != "checkpoints")  # unfinished searches begin again
WITH_OUTPUTS = "(SELECT 1 FROM outputs o WHERE o.arm = f.arm AND o.attempt = f.attempt AND o.number = f.number)"


def repair(folder: Path) -> list[str]:
    """Keep what is sound of a damaged run: readable rows whose images are whole. Gives what was dropped.

    Attempts that are dropped are simply searched again on resume, with the same result.
    """
    layout = Layout(folder)
    read_manifest(folder)
    aside = next(p for n in range(1000) if not (p := layout.database.with_suffix(f".damaged-{n}")).exists())
    with disk_errors(layout.database):
        for suffix in ("-wal", "-shm"):
            extra = layout.database.with_name(layout.database.name + suffix)
            if extra.exists():
                extra.rename(aside.with_name(aside.name + suffix))
        layout.database.rename(aside)
    with connect(layout.database, write=True) as fresh:
        lost = [note for table in SALVAGED for note in _salvage(aside, fresh, table)]
        return lost + _drop_without_images(layout, fresh)


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


def _drop_without_images(layout: Layout, database: sqlite3.Connection) -> list[str]:
    """Remove findings whose image is missing or changed, and outcomes whose findings are not all there."""
    dropped = []
    query = "SELECT arm, attempt, number, image, image_sha256 FROM findings"
    for arm, attempt, number, image, digest in database.execute(query).fetchall():
        path = layout.folder / image
        if not path.is_file() or sha256(path) != digest:
            key = (arm, attempt, number)
            database.execute("DELETE FROM findings WHERE arm = ? AND attempt = ? AND number = ?", key)
            dropped.append(f"finding {Key(attempt, number)}: image '{image}' is missing or changed")
    database.execute(f"DELETE FROM findings AS f WHERE NOT EXISTS {WITH_OUTPUTS}")
    database.execute(
        "DELETE FROM outcomes AS o WHERE o.findings != "
        "(SELECT count(*) FROM findings f WHERE f.arm = o.arm AND f.attempt = o.attempt)"
    )
    return dropped
