"""Intervals for numbers that have no formula: the percentile bootstrap over items.

Efron, Annals of Statistics 7 (1979). Items (images) are drawn with replacement, all answers to one staying together:
answers to the same image are not independent, so that drawing single answers would give intervals that are too short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foible.metrics.rates import CONFIDENCE

RESAMPLES = 1000
FEWEST = 2  # items: of one alone nothing can be said about the spread

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % percentile interval over `items`; what is not defined is None."""

    items: int
    value: float | None
    low: float | None = None
    high: float | None = None


def estimate(
    items: int, statistic: Callable[[Rows], float | None], rng: np.random.Generator, resamples: int = RESAMPLES
) -> Estimate:
    """A statistic of all items, with its bootstrap interval.

    Args:
        items: how many there are.
        statistic: the number for items at these positions, repeated ones included; None where it is not defined, and
            such resamples are left out.
        rng: the only source of randomness.
        resamples: how often to draw.
    """
    value = statistic(np.arange(items)) if items else None
    if value is None or items < FEWEST:
        return Estimate(items, value)
    drawn = [statistic(rng.integers(0, items, items)) for _ in range(resamples)]
    known = [number for number in drawn if number is not None]
    if not known:
        return Estimate(items, value)
    low, high = np.quantile(known, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)).tolist()
    return Estimate(items, value, low, high)
