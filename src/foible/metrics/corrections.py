"""Many tests at once: p-values as they must be read when a whole family of them is shown.

Holm, Scandinavian Journal of Statistics 6 (1979), bounds the chance that any difference of the family is a false one.
Benjamini and Hochberg, JRSS B 57 (1995), bound the share of false ones among those called different (scipy).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

Correction = Literal["holm", "benjamini-hochberg"]


def corrected(p_values: Sequence[float], correction: Correction = "holm") -> list[float]:
    """The p-values after correction, in the order they came."""
    return holm(p_values) if correction == "holm" else benjamini_hochberg(p_values)


def holm(p_values: Sequence[float]) -> list[float]:
    """The k-th smallest of n times n - k + 1, never smaller than the one before it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    numbers = _checked(p_values)
    order = np.argsort(numbers, kind="stable")
    steps = np.maximum.accumulate(numbers[order] * np.arange(len(numbers), 0, -1))
    result = np.empty_like(numbers)
    result[order] = np.minimum(steps, 1.0)
    return [float(p) for p in result]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The k-th smallest of n times n / k, never larger than the one after it."""
    numbers = _checked(p_values)
    if not len(numbers):
        return []
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(numbers, method="bh")]


def _checked(p_values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    numbers = np.asarray(p_values, dtype=np.float64).reshape(-1)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"p-values lie between 0 and 1, got {list(p_values)}")
    return numbers
