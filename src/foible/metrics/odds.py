"""How many times better the odds are: the effect size of two proportions.

The estimate is the conditional maximum likelihood one with its exact interval, as in Fisher's test (scipy). Where a
count is 0 the ratio or its upper end is without bound; that is None here, since JSON has no word for infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from foible.metrics.rates import CONFIDENCE


@dataclass(frozen=True)
class Odds:
    """An odds ratio with its 95 % interval; 1 is no difference, None is unknown or without bound."""

    ratio: float | None
    low: float | None
    high: float | None


def odds_ratio(first: int, of_first: int, second: int, of_second: int) -> Odds:
    """The odds of `first` of `of_first` over those of `second` of `of_second`, on origins that are not paired."""
    table = _table(first, of_first, second, of_second)
    if 0 in (of_first, of_second, first + second, of_first + of_second - first - second):
        return Odds(None, None, None)
    from scipy.stats.contingency import odds_ratio as estimated

    found = estimated(table)
    interval = found.confidence_interval(CONFIDENCE)
    return Odds(*(_bounded(float(v)) for v in (found.statistic, interval.low, interval.high)))


def fisher_exact(first: int, of_first: int, second: int, of_second: int) -> float:
    """The two-sided p-value of Fisher's exact test of two proportions."""
    from scipy.stats import fisher_exact as test

    return float(test(_table(first, of_first, second, of_second)).pvalue)


def _table(first: int, of_first: int, second: int, of_second: int) -> list[list[int]]:
    if not (0 <= first <= of_first and 0 <= second <= of_second):
        raise ValueError(f"a count lies between 0 and its total, got {first} of {of_first}, {second} of {of_second}")
    return [[first, of_first - first], [second, of_second - second]]


def _bounded(value: float) -> float | None:
    return value if math.isfinite(value) else None
