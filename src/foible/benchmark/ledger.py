"""What a benchmark remembers beside its runs: of which recipe a cell is, how long it took so far, why it could not run.

It serves the time left, and spares a look at runs that are complete. Tables are made from the runs, so that they are the same whatever was
interrupted.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from foible.files import disk_errors, write_whole

FILE = "benchmark.json"


class Entry(BaseModel):
    """One cell: its recipe's digest, seconds spent in all sittings, and the problem that keeps it from running."""

    model_config = ConfigDict(frozen=True)

    recipe: str = ""
    seconds: float = 0.0
    problem: str | None = None


class Ledger(BaseModel):
    """The entries by cell."""

    cells: dict[str, Entry] = {}

    def begin(self, cell: str, recipe: str) -> None:
        """A cell is taken up; what is known of another recipe of that name is forgotten."""
        before = self.cells.get(cell, Entry())
        self.cells[cell] = Entry(recipe=recipe, seconds=before.seconds if before.recipe == recipe else 0.0)

    def end(self, cell: str, seconds: float, problem: str | None) -> None:
        """A sitting is over."""
        before = self.cells[cell]
        self.cells[cell] = before.model_copy(update={"seconds": before.seconds + seconds, "problem": problem})


def read_ledger(folder: Path) -> Ledger:
    """The ledger of a benchmark folder; an empty one where there is none or it cannot be read."""
    path = folder / FILE
    try:
        return Ledger.model_validate_json(path.read_text())
    except (OSError, ValidationError, ValueError):
        return Ledger()


def write_ledger(folder: Path, ledger: Ledger) -> None:
    """Write the ledger whole or not at all."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / FILE, json.dumps(ledger.model_dump(), indent=1, sort_keys=True) + "\n")
