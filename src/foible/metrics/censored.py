"""Costs of which some are only known to be larger: an origin that is not solved is censored at what was spent on it.

Counting an unsolved origin with its budget (the published 250 iterations) makes a search look better the smaller its
budget is. A censored cost says "more than this" and nothing else.

- Median: where Kaplan and Meier's curve falls to one half. Kaplan and Meier, JASA 53 (1958).
- Unpaired: the log-rank test (scipy). Mantel, Cancer Chemotherapy Reports 50 (1966).
- Paired: every cost has a log-rank score, its event (1 or 0) minus the pooled cumulative hazard at its time. If the
  sides were equal, exchanging them within a pair would change nothing, so the sum of the pairs' differences of scores
  is compared with all sums over exchanged signs: exactly up to 2^16 of them, by their normal limit beyond.
  O'Brien and Fleming, Biometrics 43 (1987), with log-rank in the place of Prentice and Wilcoxon's scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

EXACT = 16  # pairs with a difference up to which all exchanges are tried

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Cost:
    """What an origin took: until it was solved, or without being solved."""

    amount: float
    solved: bool

    def within(self, horizon: float) -> Cost:
        """The same as one would know it who had stopped at `horizon`."""
        return self if self.amount <= horizon else Cost(horizon, False)


@dataclass(frozen=True)
class CostTest:
    """How often equals would differ this much; `first_is_cheaper` says which way, None where there is no way."""

    p_value: float
    first_is_cheaper: bool | None
    method: Literal["exact exchange", "normal limit of exchange", "log-rank"]


def median_cost(costs: Sequence[Cost]) -> float | None:
    """The cost by which half of the origins are solved, as far as is known; None where fewer than half ever are."""
    if not costs:
        return None
    moments, solved, at_risk, _ = _life_table(costs)
    unsolved = np.cumprod(1 - solved / at_risk)
    reached = moments[unsolved <= 0.5 + 1e-12]
    return float(reached[0]) if len(reached) else None


def log_rank(first: Sequence[Cost], second: Sequence[Cost]) -> CostTest:
    """Compare the costs of different origins."""
    if not any(c.solved for c in (*first, *second)) or not first or not second:
        return CostTest(1.0, None, "log-rank")
    from scipy.stats import logrank

    with np.errstate(invalid="ignore", divide="ignore"):
        result = logrank(_censored(first), _censored(second))
    statistic = float(result.statistic)
    if not np.isfinite(statistic):  # nothing can vary: at every event only one side has origins left
        return CostTest(1.0, None, "log-rank")
    return CostTest(float(result.pvalue), statistic > 0 if statistic else None, "log-rank")


def paired_log_rank(first: Sequence[Cost], second: Sequence[Cost]) -> CostTest:
    """Compare the costs of the same origins, given in the same order."""
    if len(first) != len(second):
        raise ValueError(f"costs are paired by origin, got {len(first)} and {len(second)}")
    scores = log_rank_scores([*first, *second])
    gaps = scores[: len(first)] - scores[len(first) :]
    gaps = gaps[np.abs(gaps) > 1e-12]
    total = float(gaps.sum())
    cheaper = total > 0 if abs(total) > 1e-12 else None
    if len(gaps) <= EXACT:
        return CostTest(_exact(gaps, abs(total)), cheaper, "exact exchange")
    from scipy.special import ndtr

    return CostTest(float(2 * ndtr(-abs(total) / np.sqrt((gaps**2).sum()))), cheaper, "normal limit of exchange")


def log_rank_scores(costs: Sequence[Cost]) -> Numbers:
    """Event minus pooled cumulative hazard, cost by cost; a group's sum is its observed minus expected events."""
    _, solved, at_risk, place = _life_table(costs)
    events = np.array([c.solved for c in costs], dtype=np.float64)
    return np.asarray(events - np.cumsum(solved / at_risk)[place], dtype=np.float64)


def _life_table(costs: Sequence[Cost]) -> tuple[Numbers, Numbers, Numbers, NDArray[np.intp]]:
    """The moments at which anything happens, how many are solved at each, how many are left until it; each cost's moment."""
    times = np.array([c.amount for c in costs], dtype=np.float64)
    moments, place = np.unique(times, return_inverse=True)
    solved = np.bincount(place, weights=[c.solved for c in costs], minlength=len(moments)).astype(np.float64)
    leaving = np.bincount(place, minlength=len(moments))
    at_risk = (len(times) - np.cumsum(leaving) + leaving).astype(np.float64)
    return moments, solved, at_risk, place


def _exact(gaps: Numbers, seen: float) -> float:
    """The share of all exchanges whose sum is as far from 0 as the one seen."""
    sums = np.zeros(1)
    for gap in gaps:
        sums = np.concatenate([sums + gap, sums - gap])
    return float((np.abs(sums) >= seen - 1e-9).mean())


def _censored(costs: Sequence[Cost]) -> Any:
    from scipy.stats import CensoredData

    return CensoredData(
        uncensored=[c.amount for c in costs if c.solved], right=[c.amount for c in costs if not c.solved]
    )
