"""Two sides on the origins they share: failures in pairs, costs in pairs with the unsolved ones censored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from foible.metrics import (
    Cost,
    Odds,
    PairCounts,
    Rate,
    cheaper,
    detectable_difference,
    exact_mcnemar,
    median_cost,
    origins_needed,
    pair_counts,
    paired_log_rank,
    paired_odds,
    rate,
)
from foible.report.frozen import Frozen
from foible.report.harvest import HarvestDuel, harvest_duel
from foible.report.sides import Origin, Side

Measure = Literal["confirmed", "counts", "cost", "harvest"]


class ShareDuel(Frozen):
    """Who reaches a failure on more of the shared origins.

    `detectable` is the smallest difference of shares that these origins would show 8 times of 10, given how often the
    sides differ; `needed` about how many origins it would take to show a difference as small as the one seen.
    """

    first: Rate
    second: Rate
    pairs: PairCounts
    odds: Odds
    p_value: float
    corrected: float
    detectable: float | None
    needed: int | None
    left_out: int = 0  # shared origins whose failures nobody has judged
    sentence: str = ""


class CostDuel(Frozen):
    """Who needs fewer evaluations up to the first confirmed failure, both as if stopped at the smaller budget.

    `cheaper` is the chance that the first side is the cheaper one (Vargha and Delaney), unsolved origins being dearest.
    """

    origins: int
    horizon: int
    first_median: float | None
    second_median: float | None
    cheaper: float
    first_is_cheaper: bool | None
    method: str
    p_value: float
    corrected: float
    sentence: str = ""


Test = ShareDuel | CostDuel | HarvestDuel


class Duel(Frozen):
    """Two sides.

    `counts` is None where one of them was not judged, or not by the same validators; `harvest` where one does not keep every
    failure.
    """

    first: str
    second: str
    shared: int
    seeds: int
    confirmed: ShareDuel
    counts: ShareDuel | None
    cost: CostDuel
    harvest: HarvestDuel | None

    @property
    def tests(self) -> dict[Measure, Test]:
        """Its tests by what they measure."""
        made: dict[Measure, Test | None] = {
            "confirmed": self.confirmed,
            "counts": self.counts,
            "cost": self.cost,
            "harvest": self.harvest,
        }
        return {measure: test for measure, test in made.items() if test is not None}


def duel(first: Side, second: Side) -> Duel:
    """Compare two sides that share origins; p-values are not corrected yet."""
    shared = sorted(first.trials.keys() & second.trials.keys())
    won = [first.trials[k].confirmed for k in shared]
    rival = [second.trials[k].confirmed for k in shared]
    return Duel(
        first=first.name,
        second=second.name,
        shared=len(shared),
        seeds=len({seed for seed, _ in shared}),
        confirmed=share_duel(won, rival),
        counts=_counting(first, second, shared),
        cost=_costs(first, second, shared),
        harvest=harvest_duel(first.harvests, second.harvests) if first.harvests and second.harvests else None,
    )


def share_duel(first: Sequence[bool], second: Sequence[bool], left_out: int = 0) -> ShareDuel:
    """Compare what two sides solved, origin by origin."""
    pairs = pair_counts(first, second)
    p = exact_mcnemar(pairs.first_only, pairs.second_only)
    only = [count / pairs.shared for count in (pairs.first_only, pairs.second_only)] if pairs.shared else [0.0, 0.0]
    return ShareDuel(
        first=rate(sum(first), len(first)),
        second=rate(sum(second), len(second)),
        pairs=pairs,
        odds=paired_odds(pairs.first_only, pairs.second_only),
        p_value=p,
        corrected=p,
        detectable=detectable_difference(pairs.shared, sum(only)),
        needed=origins_needed(*only),
        left_out=left_out,
    )


def _counting(first: Side, second: Side, shared: Sequence[Origin]) -> ShareDuel | None:
    if not comparable_judges(first, second):
        return None
    said = [(first.trials[k].counts, second.trials[k].counts) for k in shared]
    known = [(a, b) for a, b in said if a is not None and b is not None]
    if not known:
        return None
    return share_duel([a for a, _ in known], [b for _, b in known], len(said) - len(known))


def comparable_judges(first: Side, second: Side) -> bool:
    """Whether both sides were judged at all, and by the same validators; steadiness is one of them."""
    one, other = ([side.recipe.get(key) for key in ("validators", "steadiness")] for side in (first, second))
    return bool(one[0]) and one == other


def _costs(first: Side, second: Side, shared: Sequence[Origin]) -> CostDuel:
    horizon = min(first.budget, second.budget)
    ours, theirs = ([_within(side, k, horizon) for k in shared] for side in (first, second))
    test = paired_log_rank(ours, theirs)
    chance = cheaper(ours, theirs)
    return CostDuel(
        origins=len(shared),
        horizon=horizon,
        first_median=median_cost(ours),
        second_median=median_cost(theirs),
        cheaper=0.5 if chance is None else chance,
        first_is_cheaper=test.first_is_cheaper,
        method=test.method,
        p_value=test.p_value,
        corrected=test.p_value,
    )


def _within(side: Side, origin: Origin, horizon: int) -> Cost:
    """A cost up to the horizon; a budget may be overdrawn by the last round, which is no reason to call it unsolved."""
    cost = side.trials[origin].cost
    return cost if side.budget == horizon else cost.within(horizon)
