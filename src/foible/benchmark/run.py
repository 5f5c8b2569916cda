"""Running a benchmark: every cell is an ordinary run in a folder of its own, so that all of it can be interrupted.

A cell that is complete is left alone, one that was begun goes on, one that cannot run is noted and the next one comes.
Another process may work on the same folder: what it holds is put off, and left to it in the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from foible.benchmark.ledger import read_ledger, write_ledger
from foible.benchmark.matrix import Cell, Matrix
from foible.benchmark.progress import Heard, Standing, TimeLeft
from foible.campaign import assemble
from foible.campaign import run as run_campaign
from foible.campaign.workers import Workers, threads_of, workers_of
from foible.errors import FoibleError
from foible.report import write_page
from foible.store import open_run

Listener = Callable[[Standing], None]

BUSY = "another process"  # as a run says that somebody else is writing it


@dataclass(frozen=True)
class Ended:
    """How a cell was left: "complete", "failed", "interrupted", "out of time", "elsewhere"; and why."""

    cell: Cell
    state: str
    problem: str | None = None


def run_benchmark(
    matrix: Matrix, folder: Path, listen: Listener = lambda _: None, order: Iterable[int] | None = None
) -> list[Ended]:
    """Run what is not complete yet, in any order, and say how every cell was left, in the matrix's order.

    Args:
        matrix: the benchmark.
        folder: gets a run folder per cell.
        listen: called with how far the whole is.
        order: positions of cells; the matrix's own order by default. No result depends on it.
    """
    with _shared_workers(matrix) as workers:
        return _run(matrix, Books(folder), listen, order, workers)


def _run(
    matrix: Matrix, books: Books, listen: Listener, order: Iterable[int] | None, workers: Workers | None
) -> list[Ended]:
    ended: dict[str, Ended] = {}
    waiting = [matrix.cells[k] for k in (range(len(matrix.cells)) if order is None else order)]
    left = TimeLeft(matrix, books.ledger, {c.name for c in waiting if books.complete(c)})
    postponed: set[str] = set()
    while waiting:
        cell = waiting.pop(0)
        end = Ended(cell, "complete") if books.complete(cell) else _one(cell, books, left, listen, workers)
        if end.state == "elsewhere" and cell.name not in postponed:
            postponed.add(cell.name)
            waiting.append(cell)
            continue
        ended[cell.name] = end
        left.ended(cell, complete=end.state == "complete")
        if end.state == "interrupted":
            break
    return [ended.get(cell.name, Ended(cell, "interrupted")) for cell in matrix.cells]


class Books:
    """A benchmark's folder and ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ledger = folder, read_ledger(folder)

    def complete(self, cell: Cell) -> bool:
        """Whether a cell's run is there, of this very recipe, and finished."""
        entry = self.ledger.cells.get(cell.name)
        if entry is None or entry.recipe != _digest(cell):
            return False
        try:
            return open_run(self.folder / cell.name).state == "complete"
        except FoibleError:
            return False

    def begin(self, cell: Cell) -> None:
        """A cell is taken up."""
        self.ledger.begin(cell.name, _digest(cell))
        write_ledger(self.folder, self.ledger)

    def end(self, end: Ended, seconds: float) -> Ended:
        """A cell is left."""
        self.ledger.end(end.cell.name, seconds, end.problem)
        write_ledger(self.folder, self.ledger)
        return end


@contextmanager
def _shared_workers(matrix: Matrix) -> Iterator[Workers | None]:
    """Processes that go from cell to cell, where all cells ask for the same; otherwise every run has its own."""
    engines = [cell.recipe.engine for cell in matrix.cells]
    asked = {(e.workers, e.threads, e.address, e.gpus, e.device) for e in engines}
    if len(asked) > 1 or not engines or not engines[0].workers:
        yield None
        return
    with workers_of(engines[0], threads_of(engines[0])) as workers:
        yield workers


def _one(cell: Cell, books: Books, left: TimeLeft, listen: Listener, workers: Workers | None) -> Ended:
    books.begin(cell)
    left.begin(cell)
    listen(left.standing())
    begin = time.monotonic()
    end = _attempt(cell, books.folder / cell.name, lambda progress: listen(left.heard(progress)), workers)
    return books.end(end, time.monotonic() - begin)


def _attempt(cell: Cell, folder: Path, listen: Callable[[Heard], None], workers: Workers | None) -> Ended:
    try:
        run_campaign(assemble(cell.recipe), folder, listen, workers)
        run = open_run(folder)
        write_page(run)
        return Ended(cell, run.state)
    except KeyboardInterrupt:
        return Ended(cell, "interrupted")
    except FoibleError as error:
        if BUSY in error.message:
            return Ended(cell, "elsewhere", error.message)
        return Ended(cell, "failed", f"{error.message}; {error.hint}" if error.hint else error.message)
    except Exception as error:  # one cell's fault, whatever it is, must not cost the others
        if os.environ.get("FOIBLE_DEBUG"):
            raise
        return Ended(cell, "failed", f"{type(error).__name__}: {error}")


def _digest(cell: Cell) -> str:
    """A cell's recipe without what may change between sittings."""
    recipe = {k: v for k, v in cell.recipe.resolved().items() if k != "engine"}
    recipe["budget"] = {k: v for k, v in recipe["budget"].items() if k != "seconds"}
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
