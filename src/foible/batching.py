"""Run a function over chunks of one fixed shape.

Every chunk is padded to the same number of rows, so that a row's floating-point result does not depend on how
many neighbours it has. The size is measured (`fastest_chunk`), because on a CPU the fastest chunk is small.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

ChunkFunction = Callable[..., tuple[Tensor, ...]]

CHUNKS = (16, 32, 64, 128, 256)


class Chunks:
    """Calls a function on padded chunks; halves the chunk when memory runs out and remembers the new size."""

    def __init__(self, size: int) -> None:
        self.size = size

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
                self.size //= 2
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


def fastest_chunk(run: Callable[[int], None], sizes: Sequence[int] = CHUNKS, seconds: float = 1.0) -> int:
    """The size at which `run(size)` costs least per row, each tried for an equal share of `seconds`.

    A larger chunk must be clearly (5 %) faster to win over a smaller one: noise should not decide.
    """
    best_size, best_cost = sizes[0], float("inf")
    for size in sizes:
        run(size)  # the first call pays for warming up
        cost, deadline = float("inf"), time.perf_counter() + seconds / len(sizes)
        while time.perf_counter() < deadline or cost == float("inf"):
            begin = time.perf_counter()
            run(size)
            cost = min(cost, (time.perf_counter() - begin) / size)
        if cost < 0.95 * best_cost:
            best_size, best_cost = size, cost
    return best_size
