"""Hashes of rows: the same on every machine, for samples that do not depend on order and for sets of patterns.

splitmix64 (Steele, Lea and Flood, OOPSLA 2014) on wrapping 64-bit integers.
"""

from __future__ import annotations

import torch
from torch import Tensor

GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
FIRST = 0xBF58476D1CE4E5B9 - (1 << 64)
SECOND = 0x94D049BB133111EB - (1 << 64)


def mixed(numbers: Tensor) -> Tensor:
    """Each 64-bit integer as one that looks random."""
    x = numbers + GOLDEN
    x = (x ^ _shifted(x, 30)) * FIRST
    x = (x ^ _shifted(x, 27)) * SECOND
    return x ^ _shifted(x, 31)


def keys(count: int) -> Tensor:
    """A random-looking 64-bit key for each of `count` things: the hash of a set of them is the sum of their keys.

    Sums wrap around; the order of a set does not matter, and taking one thing out is a subtraction (Zobrist 1970).
    """
    return mixed(torch.arange(count, dtype=torch.int64))


def row_hashes(rows: Tensor) -> Tensor:
    """A 64-bit hash of the values of each row (N, D): equal rows have equal hashes.

    The bits of each value times an odd key of its column, summed up and mixed once.
    """
    bits = rows.detach().to(torch.float32).add(0.0).contiguous().view(torch.int32).to(torch.int64)
    return mixed(bits.mul_(keys(bits.shape[1]) | 1).sum(1))


def _shifted(x: Tensor, by: int) -> Tensor:
    """A shift to the right that does not drag the sign along."""
    return (x >> by) & ((1 << (64 - by)) - 1)
