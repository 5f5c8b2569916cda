"""What failures cost, in classifier evaluations: distributions, means with intervals, cost per failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foible.metrics.rates import CONFIDENCE
from foible.names import Status
from foible.records import Outcome


@dataclass(frozen=True)
class Spread:
    """How a number is distributed: extremes, quartiles, and the mean with its 95 % interval.

    Quartiles interpolate linearly between order statistics. The interval of the mean is Student's t interval, which
    needs two values. What is not known is None.
    """

    count: int
    smallest: float | None = None
    lower: float | None = None
    median: float | None = None
    upper: float | None = None
    largest: float | None = None
    mean: float | None = None
    mean_low: float | None = None
    mean_high: float | None = None


def spread(values: Sequence[float]) -> Spread:
    """The distribution of some numbers; of none, everything is unknown."""
    if len(values) == 0:
        return Spread(0)
    numbers = np.asarray(values, dtype=np.float64)
    smallest, lower, median, upper, largest = np.quantile(numbers, (0, 0.25, 0.5, 0.75, 1)).tolist()
    mean_low, mean_high = _mean_interval(numbers)
    mean = numbers.mean().item()
    return Spread(len(numbers), smallest, lower, median, upper, largest, mean, mean_low, mean_high)


def evaluations_per_failure(outcomes: Iterable[Outcome]) -> float | None:
    """Evaluations spent on all accepted origins, solved or not, divided by the failures confirmed; None without any."""
    spent = found = 0
    for outcome in outcomes:
        spent += outcome.evaluations
        found += outcome.status is Status.FOUND
    return spent / found if found else None


def _mean_interval(numbers: NDArray[np.float64]) -> tuple[float | None, float | None]:
    if len(numbers) < 2:
        return None, None
    from scipy.special import stdtrit

    error = numbers.std(ddof=1).item() / len(numbers) ** 0.5
    if error == 0:
        return numbers[0].item(), numbers[0].item()
    half = float(stdtrit(len(numbers) - 1, (1 + CONFIDENCE) / 2)) * error
    return numbers.mean().item() - half, numbers.mean().item() + half
