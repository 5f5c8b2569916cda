"""Run a function over chunks of one fixed shape.

Every chunk is padded to the same number of rows, so that a row's floating-point result does not depend on how
many neighbours it has. The size is measured (`fastest_chunk`), because on a CPU the fastest chunk is small.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

ChunkFunction = Callable[..., tuple[Tensor, ...]]

CHUNKS = (16, 32, 64, 128, 256)


class Chunks:
    """Calls a function on padded chunks; halves the chunk when memory runs out and remembers the new size.

    Args:
        size: rows of every chunk.
        shrunk: told the old and the new size whenever memory has run out: results may differ in their last bits from
            then on, so that a run should note it.
    """

    def __init__(self, size: int, shrunk: Callable[[int, int], None] = lambda _old, _new: None) -> None:
        self.size, self.shrunk = size, shrunk

    def __call__(self, function: ChunkFunction, *rows: Tensor) -> tuple[Tensor, ...]:
        """Apply `function` to tensors that share their first dimension; the results are joined again.

        Args:
            function: takes chunks of the tensors and gives a tuple of tensors with one row per input row.
            rows: at least one tensor of shape (N, ...), all with the same N >= 1.
        """
        while True:
            try:
                return self._run(function, rows)
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not _out_of_memory(error) or self.size == 1:
                    raise
                old, self.size = self.size, self.size // 2
                self.shrunk(old, self.size)
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()

    def _run(self, function: ChunkFunction, rows: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        total = len(rows[0])
        parts = []
        for start in range(0, total, self.size):
            chunk = [_padded(r[start : start + self.size], self.size) for r in rows]
            parts.append(function(*chunk))
        return tuple(torch.cat(columns)[:total] for columns in zip(*parts, strict=True))


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
    run: Callable[[int], None], rounds: Sequence[int], sizes: Sequence[int] = CHUNKS, seconds: float = 1.0
) -> int:
    """The size at which rounds of so many rows cost least, the padding of their last chunk included.

    Args:
        run: runs one chunk of a given size.
        rounds: numbers of rows that come at a time, from full lanes to the last one.
        sizes: what to choose from.
        seconds: how long to measure.
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
        return sum(math.ceil(rows / size) * quickest[size] for rows in rounds)

    return min(sizes, key=cost)
