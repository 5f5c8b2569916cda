"""How many images must be shown for a wanted margin.

n0 = z^2 p (1 - p) / e^2 for an endless population; with the finite population correction, n = n0 / (1 + (n0 - 1) / N).
z is 1.96 for 95 %, e the margin (half the width of the interval), p the share itself: 0.5 is the worst case and the
default. Cochran, Sampling Techniques (1977), section 4.4.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from foible.metrics.rates import CONFIDENCE


def needed(margin: float, population: int, share: float = 0.5) -> int:
    """How many of `population` images to ask about, so that a share is known to within plus or minus `margin`.

    >>> needed(0.05, 10_000)
    370
    """
    if not 0 < margin < 1:
        raise ValueError(f"a margin lies between 0 and 1, got {margin}")
    if population <= 0:
        return 0
    endless = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2 * share * (1 - share) / margin**2
    return min(population, math.ceil(endless / (1 + (endless - 1) / population)))
