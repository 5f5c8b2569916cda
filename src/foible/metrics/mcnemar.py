"""Two treatments of the same origins: who fails where the other does not.

Attempt k starts from the same origin on both sides, so only the origins on which the sides disagree carry information.
The test is McNemar's in its exact form, a two-sided binomial test on the discordant pairs. McNemar, Psychometrika 12
(1947). Its effect size is the paired odds ratio, b / c for b origins that only the first side solves and c that only
the second does; the interval is Clopper and Pearson's for b of b + c, as odds. Agresti, Categorical Data Analysis
(2013), section 11.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foible.metrics.odds import Odds
from foible.metrics.rates import CONFIDENCE


@dataclass(frozen=True)
class PairCounts:
    """How two sides fared on the origins they share."""

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def shared(self) -> int:
        """The origins that both sides treated."""
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def discordant(self) -> int:
        """The origins on which the sides differ."""
        return self.first_only + self.second_only


def pair_counts(first: Sequence[bool], second: Sequence[bool]) -> PairCounts:
    """Count origin by origin; both sequences are in the same order."""
    pairs = list(zip(first, second, strict=True))
    both = sum(a and b for a, b in pairs)
    first_only, second_only = sum(first) - both, sum(second) - both
    return PairCounts(both, first_only, second_only, len(pairs) - both - first_only - second_only)


def exact_mcnemar(first_only: int, second_only: int) -> float:
    """The two-sided p-value of an even coin giving this split of the discordant pairs.

    >>> exact_mcnemar(5, 0)
    0.0625
    """
    if first_only + second_only == 0:
        return 1.0
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(first_only, second_only), first_only + second_only, 0.5)))


def paired_odds(first_only: int, second_only: int) -> Odds:
    """The odds that of two sides that differ on an origin the first is the one that solves it."""
    if first_only + second_only == 0:
        return Odds(None, None, None)
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(first_only, second_only + 1, tail)) if first_only else 0.0
    high = float(betaincinv(first_only + 1, second_only, 1 - tail)) if second_only else 1.0
    ends = (share / (1 - share) if share < 1 else None for share in (low, high))
    return Odds(first_only / second_only if second_only else None, *ends)
