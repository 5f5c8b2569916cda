"""How often one side is the cheaper one: Vargha and Delaney's A, a size that does not depend on the number of origins.

Vargha and Delaney, Journal of Educational and Behavioral Statistics 25 (2000): A = P(X > Y) + P(X = Y) / 2, so 0.5 is
no difference. Their words for it: from 0.56 a small, from 0.64 a medium, from 0.71 a large one, and the same below 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from foible.metrics.censored import Cost

Size = Literal["negligible", "small", "medium", "large"]


def vargha_delaney(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The chance that one of the first numbers is larger than one of the second, ties counting half; None of none.

    >>> vargha_delaney([3, 4], [1, 4])
    0.625
    """
    if not len(first) or not len(second):
        return None
    ordered = np.sort(np.asarray(second, dtype=np.float64))
    below, not_above = (np.searchsorted(ordered, first, side).sum() for side in ("left", "right"))
    return float((below + not_above) / (2 * len(first) * len(second)))


def cheaper(first: Sequence[Cost], second: Sequence[Cost]) -> float | None:
    """The chance that an origin costs the first side less than another costs the second.

    An unsolved origin costs more than any solved one, and two unsolved ones are a tie: both sides must have had the
    same horizon for this (see `Cost.within`).
    """
    ours, theirs = ([c.amount if c.solved else np.inf for c in costs] for costs in (first, second))
    return vargha_delaney(theirs, ours)


def size(a: float) -> Size:
    """The authors' word for an effect."""
    distance = abs(a - 0.5)
    return (
        "large" if distance >= 0.21 else "medium" if distance >= 0.14 else "small" if distance >= 0.06 else "negligible"
    )
