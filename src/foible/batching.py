"""Run a function over chunks of few shapes.

The last bits of a row's floating-point result may depend on how many rows go through a network with it, and for some
networks on its position among them. How rows are packed takes care of that (`Packing`): whatever the neighbours are, a row
gives the same bits. The size is measured (`fastest_chunk`), because on a CPU the fastest chunk is small.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import TypeVar

import torch
from torch import Tensor

Rows = TypeVar("Rows", tuple[Tensor, ...], dict[str, Tensor])
Piece = TypeVar("Piece")
Result = TypeVar("Result")

CHUNKS = (16, 32, 64, 128, 256)
SLACK = 1.1  # what a larger chunk may cost more than the quickest
GRAIN = 8  # rows: where only multiples of it matter, a chunk is padded to the next one


class Packing(StrEnum):
    """How rows are put together, from quick to careful; which one a pair of networks needs is measured."""

    GRAINS = "grains"  # padded to a multiple of 8 rows: neither their number nor the position matters
    FULL = "full"  # every chunk padded to the full size: the number of rows matters, the position does not
    APART = "apart"  # each group of rows in chunks of its own: the position matters too


def side_by_side(function: Callable[[Piece], Result], pieces: Iterable[Piece]) -> list[Result]:
    """What a function gives for each piece, in their order: as many at a time as torch has threads, each on a single one.

    Small networks gain nothing from several threads in one operation, and lose much: threads that wait for the next one spin.
    """
    workers = torch.get_num_threads()
    if workers == 1:
        return [function(piece) for piece in pieces]
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as threads:
            return list(threads.map(function, pieces))
    finally:
        torch.set_num_threads(workers)


class Chunks:
    """Calls a function on padded chunks; halves the chunk when memory runs out and remembers the new size.

    Args:
        size: most rows of a chunk.
        packing: how rows are put together.
        shrunk: told the old and the new size whenever memory has run out: results may differ in their last bits from
            then on, so that a run should note it.
    """

    def __init__(
        self,
        size: int,
        packing: Packing = Packing.FULL,
        shrunk: Callable[[int, int], None] = lambda _old, _new: None,
    ) -> None:
        self.size, self.packing, self.shrunk = size, packing, shrunk

    def __call__(self, function: Callable[..., Rows], *rows: Tensor, groups: Tensor | None = None) -> Rows:
        """Apply `function` to tensors that share their first dimension; the results are joined again.

        Args:
            function: takes chunks of the tensors; gives a tuple or a dictionary of tensors with one row per input row.
            rows: at least one tensor of shape (N, ...), all with the same N >= 1.
            groups: to which group each row belongs (N,), equal ones side by side; left out: each row is a group.
        """
        while True:
            try:
                return _joined([self._part(function, rows, *bounds) for bounds in self._bounds(len(rows[0]), groups)])
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not _out_of_memory(error) or self.size == 1:
                    raise
                old, self.size = self.size, self.size // 2
                self.shrunk(old, self.size)
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()

    def _bounds(self, total: int, groups: Tensor | None) -> Iterator[tuple[int, int]]:
        """Where chunks begin and end."""
        if self.packing is not Packing.APART:
            step = self.size if self.packing is Packing.FULL else _even(total, self.size)
            yield from ((start, min(start + step, total)) for start in range(0, total, step))
            return
        lengths = [1] * total if groups is None else torch.unique_consecutive(groups, return_counts=True)[1].tolist()
        begin = 0
        for length in lengths:
            yield from ((s, min(s + self.size, begin + length)) for s in range(begin, begin + length, self.size))
            begin += length

    def _part(self, function: Callable[..., Rows], rows: tuple[Tensor, ...], start: int, end: int) -> Rows:
        count = end - start
        grain = self.size if self.packing is Packing.FULL else min(GRAIN, self.size)
        padded = min(math.ceil(count / grain) * grain, self.size)
        result = function(*(_padded(r[start:end], padded) for r in rows))
        if isinstance(result, dict):
            return {name: value[:count] for name, value in result.items()}
        return tuple(value[:count] for value in result)


def _even(total: int, most: int) -> int:
    """Rows per chunk when all are about as long: a short last one costs more per row than the others."""
    rows = math.ceil(total / math.ceil(total / most))
    return min(math.ceil(rows / GRAIN) * GRAIN, most)


def _joined(parts: Sequence[Rows]) -> Rows:
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, dict):
        return {name: torch.cat([part[name] for part in parts]) for name in first}
    return tuple(torch.cat(columns) for columns in zip(*parts, strict=True))


def _padded(rows: Tensor, size: int) -> Tensor:
    if len(rows) == size:
        return rows
    return torch.cat([rows, rows[-1:].expand(size - len(rows), *rows.shape[1:])])


def _out_of_memory(error: BaseException) -> bool:
    text = str(error)
    return (
        isinstance(error, torch.OutOfMemoryError | MemoryError)
        or "can't allocate memory" in text
        or "out of memory" in text
    )


def fastest_chunk(
    run: Callable[[int], None],
    rounds: Sequence[int],
    sizes: Sequence[int] = CHUNKS,
    seconds: float = 1.0,
    packing: Packing = Packing.FULL,
) -> int:
    """The largest size at which rounds of so many rows cost about the least, the padding of their last chunk included.

    Larger ones are preferred because a chunk also costs something beside the networks, which is not measured here.

    Args:
        run: runs one chunk of a given size.
        rounds: numbers of rows that come at a time, from full lanes to the last one.
        sizes: what to choose from.
        seconds: how long to measure.
        packing: how rows will be packed, and so what the last chunk of a round costs.
    """

    for size in sizes:
        run(size)  # the first call pays for warming up
    quickest = dict.fromkeys(sizes, float("inf"))
    deadline = time.perf_counter() + seconds
    while True:  # in turn, so that a busy moment of the machine falls on all of them
        for size in sizes:
            begin = time.perf_counter()
            run(size)
            quickest[size] = min(quickest[size], time.perf_counter() - begin)
        if time.perf_counter() >= deadline:
            break

    def cost(size: int) -> float:
        grain = min(GRAIN, size) if packing is Packing.GRAINS else size
        return sum(math.ceil(rows / grain) * grain / size * quickest[size] for rows in rounds)

    costs = {size: cost(size) for size in sizes}
    return max(size for size in sizes if costs[size] <= SLACK * min(costs.values()))
