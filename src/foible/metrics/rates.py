"""Proportions with their 95 % interval.

The interval is Wilson's score interval: unlike the textbook normal one, it stays inside [0, 1] and keeps its coverage
for the small counts and extreme shares that are common here. Wilson, JASA 22 (1927); Brown, Cai and DasGupta,
Statistical Science 16 (2001), recommend it for small samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rate:
    """A share with its counts and 95 % Wilson interval; `share`, `low` and `high` are None when `total` is 0."""

    count: int
    total: int
    share: float | None
    low: float | None
    high: float | None


def rate(count: int, total: int) -> Rate:
    """The share `count / total` with its interval; of nothing, nothing is known."""
    if not 0 <= count <= total:
        raise ValueError(f"a count lies between 0 and its total, got {count} of {total}")
    if total == 0:
        return Rate(count, total, None, None, None)
    low, high = wilson(count, total)
    return Rate(count, total, count / total, low, high)


def wilson(count: float, total: int) -> tuple[float, float]:
    """Wilson's interval of a share (1927); the same as scipy's, whose import takes longer than many a command.

    The count is a fraction where a share of more, dependent observations is as good as one of `total` independent ones.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, scale = count / total, 1 + z * z / total
    middle = (share + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (0.0 if count == 0 else middle - half), (1.0 if count == total else middle + half)
