"""Search against baseline on the same origins (see mcnemar.py)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from foible.metrics.costs import evaluations_per_failure
from foible.metrics.mcnemar import exact_mcnemar, pair_counts
from foible.metrics.rates import Rate, rate
from foible.names import Status
from foible.records import Outcome


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
    counts = pair_counts(won, rival)
    return Paired(
        shared=counts.shared,
        both=counts.both,
        search_only=counts.first_only,
        baseline_only=counts.second_only,
        neither=counts.neither,
        search=rate(sum(won), len(shared)),
        baseline=rate(sum(rival), len(shared)),
        search_evaluations_per_failure=evaluations_per_failure(ours[k] for k in shared),
        baseline_evaluations_per_failure=evaluations_per_failure(theirs[k] for k in shared),
        p_value=exact_mcnemar(counts.first_only, counts.second_only) if shared else None,
    )


def _accepted(outcomes: Iterable[Outcome]) -> dict[int, Outcome]:
    return {o.attempt: o for o in outcomes if o.accepted}
