"""How the number of distinct disagreements grows with the queries: of the search, of random images, of the real test set.

A query is one image asked of one model. The attempts of a search are laid one after the other; random and real images cost
two queries each. An image counts when it is further than `NEAR` from all that counted before it on its own curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.differing.answers import Answers
from foible.metrics.diversity import NEAR, distinct, flat
from foible.store import Run
from foible.types import Images


@dataclass(frozen=True)
class Growth:
    """A curve: after so many queries so many distinct disagreements had been found; `queries` are those it ended with."""

    name: str
    found_at: tuple[int, ...]
    queries: int

    def after(self, queries: int) -> int:
        """How many had been found by then."""
        return sum(at <= queries for at in self.found_at)


def growth_of_search(run: Run, images: Images, name: str = "search") -> Growth:
    """The curve of a run; `images` are those of its findings, in order of attempt and number."""
    spent = {o.attempt: o.evaluations for o in run.outcomes()}
    before, total = {}, 0
    for attempt in sorted(spent):
        before[attempt] = total
        total += spent[attempt]
    lines = sorted(run.index(), key=lambda line: (line.attempt, line.number))
    at = torch.tensor([before.get(line.attempt, total) + line.evaluations for line in lines], dtype=torch.long)
    return Growth(name, _counted(images, at), total)


def growth_of_sample(answers: Answers, name: str) -> Growth:
    """The curve of images that were asked in order, two queries each; as far as their pictures were kept."""
    images = answers.images if answers.images is not None else torch.empty(0, 1, 1, 1)
    at = 2 * (answers.differ.nonzero()[: len(images), 0] + 1)
    return Growth(name, _counted(images, at), 2 * len(answers))


def fewest_queries(curves: Sequence[Growth]) -> int:
    """Up to where all curves that hold anything can be compared."""
    return min((c.queries for c in curves if c.queries), default=0)


def _counted(images: Images, at: Tensor) -> tuple[int, ...]:
    order = at.argsort(stable=True)
    own = distinct(flat(images[order]), NEAR) if len(images) else order
    return tuple(at[order][own].tolist())
