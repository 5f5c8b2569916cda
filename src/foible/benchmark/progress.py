"""How far a benchmark is, and how long it will still take.

Cells differ a thousandfold in cost, so that counting them says little. What a cell may cost is known in evaluations; how
long an evaluation takes is learnt from cells with the same models, or else from all that have run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from foible.benchmark.ledger import Ledger
from foible.benchmark.matrix import Cell, Matrix
from foible.types import Arm

KNOWN = 0.02  # share of a cell from which its own speed is believed


class Heard(Protocol):
    """What is read of a run's progress."""

    @property
    def arm(self) -> Arm:
        """Search or baseline."""
        ...

    @property
    def share(self) -> float:
        """How much of the arm is done, 0 to 1."""
        ...

    @property
    def found(self) -> int:
        """Failures confirmed so far."""
        ...


@dataclass(frozen=True)
class Standing:
    """One line: cells ended and in all, the cell under way and its share, seconds left for the whole if known."""

    done: int
    cells: int
    cell: str
    share: float
    found: int
    seconds_left: float | None


class TimeLeft:
    """Keeps the books while cells come and go."""

    def __init__(self, matrix: Matrix, ledger: Ledger, complete: set[str]) -> None:
        self.cells = {cell.name: cell for cell in matrix.cells}
        self.open = [cell for cell in matrix.cells if cell.name not in complete]
        spent = {name: entry.seconds for name, entry in ledger.cells.items()}
        self.rates = [
            (_models(c), spent[c.name] / c.evaluations)
            for c in matrix.cells
            if c.name in complete and spent.get(c.name, 0) > 0
        ]
        self.current: Cell | None = None
        self.shares: dict[Arm, float] = {}
        self.found, self.began, self.before = 0, time.monotonic(), 0.0

    def begin(self, cell: Cell) -> None:
        """A cell is taken up."""
        self.current, self.shares, self.found, self.began = cell, {}, 0, time.monotonic()
        self.before = -1.0

    def heard(self, progress: Heard) -> Standing:
        """A round of the current cell has ended."""
        self.shares[progress.arm], self.found = progress.share, progress.found
        if self.before < 0:  # what earlier sittings did took none of this one's time
            self.before = self.share
        return self.standing()

    def ended(self, cell: Cell, complete: bool) -> None:
        """A cell is done with, for now."""
        self.open = [other for other in self.open if other.name != cell.name]
        if complete and self.current is cell and self.share > self.before >= 0:
            taken = (time.monotonic() - self.began) / max(1.0 - self.before, 1e-6)
            self.rates.append((_models(cell), taken / cell.evaluations))
        self.current = None

    @property
    def share(self) -> float:
        """How much of the current cell is done, both arms weighed by their attempts."""
        if self.current is None:
            return 0.0
        recipe = self.current.recipe
        planned = {Arm.SEARCH: recipe.attempts, Arm.BASELINE: min(recipe.attempts, recipe.baseline.attempts)}
        return sum(self.shares.get(arm, 0.0) * n for arm, n in planned.items()) / sum(planned.values())

    def standing(self) -> Standing:
        """The line as it is now."""
        name = self.current.name if self.current else ""
        return Standing(len(self.cells) - len(self.open), len(self.cells), name, self.share, self.found, self._left())

    def _left(self) -> float | None:
        here = self._current_left()
        rates = list(self.rates)
        if self.current is not None and here is not None and self.share < 1:
            rates.append((_models(self.current), here / (1 - self.share) / self.current.evaluations))
        if not rates:
            return None
        others = sum(_rate(cell, rates) * cell.evaluations for cell in self.open if cell is not self.current)
        if self.current is not None and here is None:
            here = _rate(self.current, rates) * self.current.evaluations * (1 - self.share)
        return others + (here or 0.0)

    def _current_left(self) -> float | None:
        """By the current cell's own speed, once it has one."""
        done = self.share - max(self.before, 0.0)
        return (time.monotonic() - self.began) * (1 - self.share) / done if done >= KNOWN else None


def _models(cell: Cell) -> tuple[str, str]:
    return cell.recipe.generator.use, cell.recipe.classifier.use


def _rate(cell: Cell, rates: list[tuple[tuple[str, str], float]]) -> float:
    """Seconds per evaluation: of cells with the same models, or else of all."""
    same = [rate for models, rate in rates if models == _models(cell)]
    return median(same or [rate for _, rate in rates])
