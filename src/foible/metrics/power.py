"""What a paired comparison could have shown: power of the exact McNemar test, origins needed, difference detectable.

The number of discordant origins among n is binomial with the share of discordant ones; given it, the first side's part
is binomial, and the exact test rejects in its two tails. The power is the sum over both, without approximation. Connor,
Biometrics 43 (1987), gives the approximation that it is tested against.

The power is that of a difference one would care about, or that one expects; the power of the very difference that was
seen only says the p-value once more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
WANTED = 0.8  # the usual power
MOST = 1_000_000  # origins; nobody will search more to settle a question


def mcnemar_power(origins: int, first_only: float, second_only: float, level: float = LEVEL) -> float:
    """How often the exact test finds a difference.

    Args:
        origins: pairs.
        first_only: share of origins that only the first side solves.
        second_only: share that only the second side solves.
        level: p-values up to this are called a difference.
    """
    _check_shares(first_only, second_only)
    apart = first_only + second_only
    if origins == 0 or apart == 0:
        return 0.0
    from scipy.special import bdtr, bdtrc

    middle, reach = origins * apart, 8 * (origins * apart * (1 - apart)) ** 0.5 + 8  # beyond it nothing ever falls
    discordant = np.arange(max(0, int(middle - reach)), min(origins, int(middle + reach)) + 1)
    chance = np.diff(bdtr(discordant, origins, apart), prepend=0.0)
    tail, side = _tail(discordant, level / 2), first_only / apart
    rejects = bdtr(tail, discordant, side) + bdtrc(discordant - tail - 1, discordant, side)
    return float((chance * np.where(tail < 0, 0.0, rejects)).sum())


def _tail(count: NDArray[np.int64], most: float) -> NDArray[np.int64]:
    """The most heads for which an even coin gives so many or fewer with at most this chance; -1 where none will do."""
    from scipy.special import bdtr, bdtrik

    near = np.floor(np.nan_to_num(bdtrik(most, count, 0.5), nan=-1.0)).astype(np.int64)
    fits = [
        np.where((k >= 0) & (bdtr(np.maximum(k, 0), count, 0.5) <= most), k, -1) for k in (near - 1, near, near + 1)
    ]
    return np.asarray(np.max(fits, axis=0), dtype=np.int64)


def origins_needed(first_only: float, second_only: float, power: float = WANTED, level: float = LEVEL) -> int | None:
    """About how many paired origins it takes to find a difference; None where a million would not do."""
    if first_only == second_only:
        return None
    high = 1
    while mcnemar_power(high, first_only, second_only, level) < power:
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        enough = mcnemar_power(middle, first_only, second_only, level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def detectable_difference(origins: int, discordant: float, power: float = WANTED, level: float = LEVEL) -> float | None:
    """The smallest difference of two shares that this many origins would show; None where none would be shown.

    Args:
        origins: pairs.
        discordant: the share of origins on which the sides differ: the larger, the harder.
        power: how often it shall be found.
        level: p-values up to this are called a difference.
    """
    low, high = 0.0, discordant
    if mcnemar_power(origins, discordant, 0.0, level) < power:
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2
        found = mcnemar_power(origins, (discordant + middle) / 2, (discordant - middle) / 2, level) >= power
        low, high = (low, middle) if found else (middle, high)
    return high


def _check_shares(first_only: float, second_only: float) -> None:
    if min(first_only, second_only) < 0 or first_only + second_only > 1 + 1e-12:
        raise ValueError(f"shares of origins lie between 0 and 1 together, got {first_only} and {second_only}")
