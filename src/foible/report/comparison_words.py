"""A plain sentence per comparison: who, how many of how many, and how sure that is."""

from __future__ import annotations

from math import comb
from statistics import median

from foible.metrics import CochranQ, Odds, size
from foible.metrics.power import LEVEL
from foible.report.duels import CostDuel, Duel, Measure, ShareDuel, Test
from foible.report.harvest import HarvestDuel
from foible.report.wording import count, p_value, percent

WHAT = {"confirmed": "confirmed failures", "counts": "failures that count"}


def worded(duel: Duel, test: Test, measure: Measure) -> str:
    """The sentence of a test."""
    if isinstance(test, CostDuel):
        return by_cost(duel, test)
    return by_harvest(duel, test) if isinstance(test, HarvestDuel) else by_share(duel, test, measure)


def by_share(duel: Duel, test: ShareDuel, measure: str) -> str:
    """ "descent finds more failures that count than genetic: 71 against 45 of 97 starting images, p < 0.001 after correction"."""
    what, more = WHAT[measure], test.first.count >= test.second.count
    winner, loser = (duel.first, duel.second) if more else (duel.second, duel.first)
    high, low = (test.first.count, test.second.count) if more else (test.second.count, test.first.count)
    figures = (
        f"{high:,} against {low:,} of {test.pairs.shared:,} starting images, {p_value(test.corrected)} after correction"
    )
    aside = f"; {test.left_out:,} shared starting images are left out, not judged" if test.left_out else ""
    if test.corrected <= LEVEL:
        return f"{winner} finds more {what} than {loser}: {figures}; {_odds(test.odds, more)}{aside}."
    if test.pairs.discordant == 0:
        return f"{duel.first} and {duel.second} find {what} on the same {high:,} of {test.pairs.shared:,} starting images{aside}."
    return f"No difference in {what} is shown between {winner} and {loser}: {figures}; {_power(test)}{aside}."


def by_cost(duel: Duel, test: CostDuel) -> str:
    """ "descent needs fewer evaluations than genetic: median 38 against 812 on 97 starting images, p < 0.001 after ..."."""
    first = test.first_is_cheaper is not False
    winner, loser = (duel.first, duel.second) if first else (duel.second, duel.first)
    medians = (test.first_median, test.second_median) if first else (test.second_median, test.first_median)
    chance = test.cheaper if first else 1 - test.cheaper
    said = " against ".join(count(m) if m is not None else f"more than {test.horizon:,}" for m in medians)
    figures = f"median {said} on {test.origins:,} starting images, unsolved ones censored, {p_value(test.corrected)} after correction"
    if test.corrected > LEVEL:
        return f"No difference in evaluations to a failure is shown between {winner} and {loser}: {figures}."
    return (
        f"{winner} needs fewer evaluations to a failure than {loser}: {figures}; "
        f"it is the cheaper one {percent(chance)} of the time ({size(chance)} effect)."
    )


def by_harvest(duel: Duel, test: HarvestDuel) -> str:
    """ "both gathers more distinct failures than novelty: median 76.1 against 8.2 for every 1,000 evaluations over 5 and 5 runs, ..."."""
    first = test.larger >= 0.5
    winner, loser = (duel.first, duel.second) if first else (duel.second, duel.first)
    chance = test.larger if first else 1 - test.larger
    runs = (test.first, test.second) if first else (test.second, test.first)
    medians = " against ".join(f"{median(h.each_thousand for h in side):.1f}" for side in runs)
    figures = (
        f"median {medians} for every 1,000 evaluations over {len(runs[0])} and {len(runs[1])} runs, "
        f"{p_value(test.corrected)} after correction"
    )
    if test.corrected > LEVEL:
        least = 2 / comb(len(test.first) + len(test.second), len(test.first)) * test.corrected / test.p_value
        few = "; so few runs would not show any" if least > LEVEL else ""
        return f"No difference in distinct failures gathered is shown between {winner} and {loser}: {figures}{few}."
    return (
        f"{winner} gathers more distinct failures than {loser}: {figures}; "
        f"a run of it has more {percent(chance)} of the time ({size(chance)} effect)."
    )


def between_all(measure: str, sides: int, result: CochranQ) -> str:
    """The same for all sides at once."""
    figures = (
        f"Cochran's Q = {result.statistic:.2f} on {result.origins:,} shared starting images, {p_value(result.p_value)}"
    )
    if result.p_value <= LEVEL:
        return f"The {sides} sides do not all find {WHAT[measure]} equally often: {figures}."
    return f"No difference in {WHAT[measure]} is shown among the {sides} sides: {figures}."


def _odds(odds: Odds, first: bool) -> str:
    """The odds from the winner's side; an end without bound is said so."""
    ratio, low, high = (
        (odds.ratio, odds.low, odds.high) if first else (_over(odds.ratio), _over(odds.high), _over(odds.low))
    )
    if ratio is None:
        return f"odds of at least {low or 0:.1f}" if low is not None else "odds unknown"
    upper = f"to {high:.1f}" if high is not None else "or more"
    return f"odds {ratio:.1f} to 1 (95 % interval {low or 0:.1f} {upper})"


def _over(value: float | None) -> float | None:
    """One over it; without bound becomes 0, and 0 without bound."""
    return 0.0 if value is None else None if value == 0 else 1 / value


def _power(test: ShareDuel) -> str:
    if test.detectable is None:
        said = "so few starting images would not show any difference 8 times of 10"
    else:
        said = f"one of {100 * test.detectable:.0f} points would be found 8 times of 10"
    return said + (f", one as large as this with about {test.needed:,} starting images" if test.needed else "")
