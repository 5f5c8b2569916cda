"""Search against baseline on the same origins.

Attempt k starts from the same origin in both arms, so the arms are compared in pairs: only the origins on which they
disagree carry information. The test is McNemar's in its exact form, a two-sided binomial test on the discordant pairs.
McNemar, Psychometrika 12 (1947).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from foible.metrics.costs import evaluations_per_failure
from foible.metrics.rates import Rate, rate
from foible.types import Outcome, Status


@dataclass(frozen=True)
class Paired:
    """Two arms on the origins that both accepted and finished.

    `p_value` answers: were the arms equally good, how often would they differ this much? It is None without shared
    origins, and 1 when the arms agree on all of them.
    """

    shared: int
    both: int
    search_only: int
    baseline_only: int
    neither: int
    search: Rate
    baseline: Rate
    search_evaluations_per_failure: float | None
    baseline_evaluations_per_failure: float | None
    p_value: float | None


def paired(search: Iterable[Outcome], baseline: Iterable[Outcome]) -> Paired:
    """Compare the arms on the attempts that are present and accepted in both."""
    ours, theirs = _accepted(search), _accepted(baseline)
    shared = sorted(ours.keys() & theirs.keys())
    won = [ours[k].status is Status.FOUND for k in shared]
    rival = [theirs[k].status is Status.FOUND for k in shared]
    both = sum(a and b for a, b in zip(won, rival, strict=True))
    search_only, baseline_only = sum(won) - both, sum(rival) - both
    return Paired(
        shared=len(shared),
        both=both,
        search_only=search_only,
        baseline_only=baseline_only,
        neither=len(shared) - both - search_only - baseline_only,
        search=rate(sum(won), len(shared)),
        baseline=rate(sum(rival), len(shared)),
        search_evaluations_per_failure=evaluations_per_failure(ours[k] for k in shared),
        baseline_evaluations_per_failure=evaluations_per_failure(theirs[k] for k in shared),
        p_value=exact_mcnemar(search_only, baseline_only) if shared else None,
    )


def exact_mcnemar(first_only: int, second_only: int) -> float:
    """The two-sided p-value of an even coin giving this split of the discordant pairs."""
    if first_only + second_only == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(first_only, first_only + second_only, 0.5).pvalue)


def _accepted(outcomes: Iterable[Outcome]) -> dict[int, Outcome]:
    return {o.attempt: o for o in outcomes if o.status is not Status.REJECTED}
