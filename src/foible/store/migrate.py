"""Bring a run of an earlier release up to the format of this one, keeping a copy of what it was.

Format 1 had one finding per attempt, one classifier, and the recipe key `stop`. Everything is written beside the run first
and put in place at the end, the manifest last: interrupted at any point, the same command goes on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from foible.digest import sha256
from foible.errors import StoreError
from foible.files import replacing, write_whole
from foible.names import TESTED
from foible.store.database import FORMAT, connect, database_errors, insert, other_format
from foible.store.layout import Layout
from foible.store.manifest import Manifest, write_manifest

STOP: dict[str, dict[str, Any]] = {
    "first": {"ends": "first"},
    "confirmed": {"ends": "confirmed"},
    "counts": {"ends": "confirmed", "steers": True},
}
NOT_DONE = {"steadiness": False, "origins": "any"}  # what format 1 did not do; a run goes on as it began
CHART = {"column": "margin", "goal": 0.0}  # what the live chart of format 1 always showed
ROLES = {"origin_probabilities": "before", "probabilities": "after"}

Resolved = Callable[[Mapping[str, Any]], dict[str, Any]]


def migrate(folder: Path, resolved: Resolved) -> list[str]:
    """Bring a run up to date in place; gives the files that keep what it was, none when there was nothing to do.

    Unfinished searches were saved in a form that this release cannot read: they begin again when the run goes on.

    Args:
        folder: the run.
        resolved: a recipe with every default written out.
    """
    layout = Layout(folder)
    facts = _manifest_facts(layout)
    if facts["format"] == FORMAT:
        return []
    if facts["format"] != 1:
        raise other_format(folder, facts["format"])
    lock = FileLock(layout.lock)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(f"another process is writing '{folder}'", "wait for it or stop it") from None
    try:
        kept = [_keep(layout.manifest)]
        if layout.database.is_file():
            kept.append(_keep(layout.database))
            _bring_up(layout, kept[-1])
        write_manifest(layout, Manifest(**_translated(facts, resolved)))
        return [path.name for path in kept]
    finally:
        lock.release()


def _manifest_facts(layout: Layout) -> dict[str, Any]:
    try:
        facts = json.loads(layout.manifest.read_text())
        assert isinstance(facts["format"], int)
    except FileNotFoundError:
        raise StoreError(
            f"'{layout.folder}' is not a run folder: it has no manifest.json", "name the folder of a run"
        ) from None
    except (ValueError, KeyError, TypeError, AssertionError) as error:
        raise StoreError(f"'{layout.manifest}' is damaged: {error}", "restore it from a copy") from error
    return dict(facts)


def _translated(facts: Mapping[str, Any], resolved: Resolved) -> dict[str, Any]:
    recipe = dict(facts["recipe"])
    recipe |= STOP[recipe.pop("stop", "confirmed")] | NOT_DONE
    return {**facts, "format": FORMAT, "recipe": resolved(recipe), "packing": "full"}


def _keep(path: Path) -> Path:
    """A copy under the name of its format, unless an interrupted migration has made it already."""
    kept = path.with_name(f"{path.name}.format-1")
    if kept.exists():
        return kept
    if path.suffix != ".sqlite":
        write_whole(kept, path.read_bytes())
        return kept
    with (
        database_errors(path),
        replacing(kept) as partial,
        closing(sqlite3.connect(path)) as source,
        closing(sqlite3.connect(partial)) as target,
    ):
        source.backup(target)  # with what is still in the write-ahead log
    return kept


def _bring_up(layout: Layout, earlier: Path) -> None:
    """The database made anew from the copy of the old one, and put in its place whole."""
    with database_errors(earlier), closing(sqlite3.connect(earlier)) as old, replacing(layout.database) as fresh:
        old.row_factory = sqlite3.Row
        with closing(connect(fresh, write=True)) as new, new:
            for row in old.execute("SELECT * FROM facts"):
                insert(new, "facts", _fact(dict(row)))
            for row in old.execute("SELECT * FROM findings"):
                _insert_finding(new, layout, dict(row))
            count = "(SELECT count(*) FROM findings f WHERE f.arm = o.arm AND f.attempt = o.attempt)"
            for row in old.execute(f"SELECT o.*, -1 AS target, {count} AS findings FROM outcomes o"):
                insert(new, "outcomes", dict(row))
        for suffix in ("-wal", "-shm"):
            layout.database.with_name(layout.database.name + suffix).unlink(missing_ok=True)


def _fact(row: dict[str, Any]) -> dict[str, Any]:
    if row["name"] == "progress":
        return row | {"value": json.dumps(json.loads(row["value"]) | CHART)}
    return row


def _insert_finding(new: sqlite3.Connection, layout: Layout, row: dict[str, Any]) -> None:
    key = {"arm": row["arm"], "attempt": row["attempt"], "number": 0}
    for column, moment in ROLES.items():
        said = {"role": TESTED, "moment": moment, "probabilities": row.pop(column)}
        insert(new, "outputs", key | said)
    origin = layout.folder / row["origin_image"]
    digest = sha256(origin) if origin.is_file() else ""
    insert(new, "findings", row | key | {"target": -1, "origin_sha256": digest})
