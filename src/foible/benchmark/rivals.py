"""Comparisons inside a benchmark: paired where cells share origins, unpaired where only the generator differs.

Other generators give other origins, so that they cannot be compared image by image. Their shares are compared by
Fisher's exact test and their costs by the log-rank test, all corrected together (Holm).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from foible.benchmark.tables import Result
from foible.metrics import Odds, Rate, corrected, fisher_exact, log_rank, odds_ratio, rate
from foible.metrics.power import LEVEL
from foible.report.comparison import Comparison, compare_sides
from foible.report.sides import Side, sharing, sides
from foible.report.wording import p_value

SAME = ("name", "title", "generator", "engine", "seed", "attempts")  # what may differ between unpaired rivals


@dataclass(frozen=True)
class Rivalry:
    """Two sides with different generators; p-values are corrected."""

    first: str
    second: str
    confirmed: tuple[Rate, Rate]
    odds: Odds
    share_p: float
    cost_p: float
    sentence: str


def paired_comparisons(found: Sequence[Result]) -> list[Comparison]:
    """One comparison per group of cells that start from the same images."""
    return [compare_sides(group) for group in sharing(_sides(found)) if len(group) > 1]


def rivalries(found: Sequence[Result]) -> list[Rivalry]:
    """Every two cells that differ by their generator alone."""
    groups: dict[str, list[Side]] = defaultdict(list)
    for side in _sides(found):
        groups[repr(sorted((k, v) for k, v in side.recipe.items() if k not in SAME))].append(side)
    pairs = [
        (a, b)
        for group in groups.values()
        for a, b in combinations(group, 2)
        if a.recipe["generator"] != b.recipe["generator"]
    ]
    tests = [(_confirmed(a), _confirmed(b)) for a, b in pairs]
    shares = [fisher_exact(x.count, x.total, y.count, y.total) for x, y in tests]
    costs = [
        log_rank([t.cost for t in a.trials.values()], [t.cost for t in b.trials.values()]).p_value for a, b in pairs
    ]
    family = corrected([*shares, *costs])
    return [
        _rivalry(a, b, rates, family[k], family[len(pairs) + k])
        for k, ((a, b), rates) in enumerate(zip(pairs, tests, strict=True))
    ]


def _rivalry(first: Side, second: Side, rates: tuple[Rate, Rate], share_p: float, cost_p: float) -> Rivalry:
    x, y = rates
    more = (x.share or 0) >= (y.share or 0)
    (winner, high), (loser, low) = ((first, x), (second, y)) if more else ((second, y), (first, x))
    figures = f"{high.count} of {high.total} against {low.count} of {low.total} starting images, {p_value(share_p)}"
    differs = share_p <= LEVEL
    words = (
        f"{winner.name} gives more confirmed failures than {loser.name}: {figures} after correction"
        if differs
        else f"No difference in confirmed failures is shown between {winner.name} and {loser.name}: {figures} after correction"
    )
    costs = "their costs differ" if cost_p <= LEVEL else "no difference in cost is shown"
    odds = odds_ratio(x.count, x.total, y.count, y.total)
    return Rivalry(first.name, second.name, rates, odds, share_p, cost_p, f"{words}; {costs} ({p_value(cost_p)}).")


def _sides(found: Sequence[Result]) -> list[Side]:
    """The runs that have ended something; repeats under other seeds are one side."""
    there = [(r.cell.name, r.run) for r in found if r.run is not None]
    made = sides([run for _, run in there], [name for name, _ in there])
    return [side for side in made if side.trials]


def _confirmed(side: Side) -> Rate:
    return rate(sum(t.confirmed for t in side.trials.values()), len(side.trials))
