"""Which of two models to ship: who is right where they disagree, by class and by region, and what to ask people about next.

A region is an unordered pair of classes that the two are torn between: all disagreements "4 or 9", whoever said which. Only
disagreements whose truth is known count; both wrong is nobody's win. Shares come with 95 % Wilson intervals, and a region
is *decided* when its interval leaves out one half. A search finds many images on its way from one origin, which are alike:
the interval is that of as many observations as there are origins.

Asking people pays where an answer can change the decision: in regions that are large and undecided. Each next question goes
to the region where the interval is widest for its weight, which is its share of all disagreements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from foible.differing.answers import Answers
from foible.metrics.rates import Rate, rate, wilson

Region = tuple[int, int]


@dataclass(frozen=True)
class Wins:
    """Of the disagreements in one place: how often A alone was right, of the times that one was, and from how many origins."""

    place: Hashable
    disagreements: int
    a: int
    b: int
    neither: int
    origins: int

    @property
    def rate(self) -> Rate:
        """A's share of the wins, as sure as its origins are many."""
        plain = rate(self.a, self.a + self.b)
        if plain.share is None:
            return plain
        low, high = wilson(plain.share * self.origins, self.origins)
        return replace(plain, low=low, high=high)

    @property
    def better(self) -> str | None:
        """ "A" or "B" where the interval leaves out one half, else None."""
        share = self.rate
        if share.low is None or share.high is None or share.low <= 0.5 <= share.high:
            return None
        return "A" if share.low > 0.5 else "B"


@dataclass(frozen=True)
class Selection:
    """Wins in all, by expected class, and by region, largest first."""

    overall: Wins
    classes: tuple[Wins, ...]
    regions: tuple[Wins, ...]


def selection(answers: Answers) -> Selection:
    """Who is right where the two disagree."""
    differ = answers.differ
    regions = _regions(answers)
    by_class = {c: differ & (answers.expected == c) for c in answers.expected[differ].unique().tolist() if c >= 0}
    by_region: dict[Region, Tensor] = {}
    for region in {r for r, d in zip(regions, differ.tolist(), strict=True) if d}:
        by_region[region] = differ & torch.tensor([r == region for r in regions])
    ranked = sorted(
        (_wins(r, answers, rows) for r, rows in by_region.items()), key=lambda w: (-w.disagreements, w.place)
    )
    return Selection(
        _wins("all", answers, differ), tuple(_wins(c, answers, rows) for c, rows in by_class.items()), tuple(ranked)
    )


def worth_asking(answers: Answers, most: int) -> list[int]:
    """Positions of undecided disagreements in the order in which people should be asked about them."""
    waiting: dict[Region, list[int]] = defaultdict(list)
    regions = _regions(answers)
    unknown = answers.differ & (answers.expected < 0)
    for position in unknown.nonzero()[:, 0].tolist():
        waiting[regions[position]].append(position)
    known = {w.place: w for w in selection(answers).regions}
    asked: dict[Region, int] = defaultdict(int)
    chosen: list[int] = []
    while len(chosen) < most and any(waiting.values()):
        region = max((r for r in waiting if waiting[r]), key=lambda r: (_worth(known[r], asked[r]), r))
        asked[region] += 1
        chosen.append(waiting[region].pop(0))
    return chosen


def _worth(wins: Wins, asked: int) -> float:
    """Weight of a region times the width that the interval of its win rate would have after so many more answers."""
    total = wins.a + wins.b + asked
    share = rate(min(total, round((wins.a / max(1, wins.a + wins.b)) * total)), total)
    width = 1.0 if share.low is None or share.high is None else share.high - share.low
    return wins.disagreements * width


def _regions(answers: Answers) -> list[Region]:
    return [(min(x, y), max(x, y)) for x, y in zip(answers.a.tolist(), answers.b.tolist(), strict=True)]


def _wins(place: Hashable, answers: Answers, rows: Tensor) -> Wins:
    known = rows & (answers.expected >= 0)
    a, b = known & (answers.a == answers.expected), known & (answers.b == answers.expected)
    origins = torch.arange(len(answers)) if answers.origins is None else answers.origins
    return Wins(
        place, int(rows.sum()), int(a.sum()), int(b.sum()), int((known & ~a & ~b).sum()), len(origins[a | b].unique())
    )
