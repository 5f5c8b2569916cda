"""Surprise coverage: how many degrees of surprise, between none and a bound, some inputs show.

Kim, Feldt and Yoo, Guiding Deep Learning System Testing Using Surprise Adequacy, ICSE 2019. A score of surprise is one
number for each input, from its trace (the values of the trace layers) and the class it is taken for.

1. The interval (lower, upper] is cut into buckets.
2. Coverage is the share of buckets that hold some input's score. Scores below and above are counted apart, as are those
   that are infinite.

Where the bounds are not given they come from traces of the profile that are set apart (every tenth of a class) and so
are new to the score: `lower` is 0 for distances and their smallest score for likelihoods, `upper` lies `factor` times as far as 99 % of them reach.

"dnn-tip" takes [0, upper) with half-open buckets and needs `upper`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.cells import SparseCells
from foible.coverage.criterion import Aiming
from foible.coverage.surrogates import mean_of_aims, outside
from foible.errors import DataError, RecipeError
from foible.types import State

APART = 10  # every tenth trace of a class is set apart
ORDINARY = 0.99  # share of them that is taken for ordinary: a few outliers would stretch the buckets without end
LEAST = 3  # traces without which a class has no score


@dataclass(eq=False)
class Surprise(SparseCells):
    """Surprise coverage by some score.

    Args:
        buckets: how many degrees of surprise.
        lower: where the first bucket begins.
        upper: where the last one ends.
        factor: without `upper`: how many times as far as ordinary inputs reach.
    """

    buckets: int = 1000
    lower: float | None = None
    upper: float | None = None
    factor: float = 2.0

    modes: ClassVar[tuple[str, ...]] = ("dnn-tip",)
    from_zero: ClassVar[bool] = True  # whether 0 is the least that a score can be

    def prepare(self) -> None:
        """Fit the score, then find the bounds."""
        self.at_least("buckets", self.buckets, 1)
        self.cells = self.buckets
        if not len(self.profile.traces):
            raise DataError(
                f"coverage '{self.name}': the profile has no traces", "fit it with the classes that the model predicts"
            )
        if self.compat == "dnn-tip" and self.upper is None:
            raise RecipeError(f"coverage '{self.name}': dnn-tip's buckets need upper=...", "give the largest score")
        self.bounds = self._bounds()
        if not self.bounds[0] < self.bounds[1]:
            raise RecipeError(f"coverage '{self.name}': no room between {self.bounds[0]:g} and {self.bounds[1]:g}")

    def _bounds(self) -> tuple[float, float]:
        """The bounds as given, or by traces that the score does not know."""
        rank = torch.arange(len(self.profile.traces)) - torch.searchsorted(
            self.profile.traced_class, self.profile.traced_class
        )
        known = self.upper is not None and (self.lower is not None or self.compat == "dnn-tip")
        apart = (rank % APART == APART - 1) & (not known)
        self.fit(self.profile.traces[~apart], self.profile.traced_class[~apart])
        if known:
            return self.lower or 0.0, float(self.upper or 0.0)
        if not apart.any():
            raise DataError(
                f"coverage '{self.name}': too few traces ({len(apart)}) to find its bounds",
                "profile more inputs, or give lower=... and upper=...",
            )
        scores = self.score(self.profile.traces[apart], self.profile.traced_class[apart])
        scores = scores[scores.isfinite()].double()
        least = 0.0 if self.from_zero else float(scores.min())
        lower = least if self.lower is None else self.lower
        reach = float(scores.quantile(ORDINARY))
        return lower, lower + self.factor * (reach - lower) if self.upper is None else self.upper

    @abstractmethod
    def fit(self, traces: Tensor, classes: Tensor) -> None:
        """Learn from the traces (T, D) of ordinary inputs and the classes they are taken for (T,)."""

    @abstractmethod
    def score(self, traces: Tensor, classes: Tensor) -> Tensor:
        """How surprising each trace is (N,); differentiable."""

    def of(self, batch: Batch) -> Tensor:
        """How surprising each input is (N,)."""
        known = set(self.profile.traced_class.unique().tolist())
        strange = next((c for c in batch.predicted.unique().tolist() if c not in known), None)
        if strange is not None:
            raise DataError(
                "surprise needs the class each input is taken for"
                if strange < 0
                else f"no profiled input was taken for class {strange}: its surprise is not defined",
                "pass predicted=... when reading activations" if strange < 0 else "profile more inputs",
            )
        traced = batch.scope.traced
        plain = not batch.values.requires_grad
        trace = batch.once("trace", lambda: batch.values[:, traced]) if plain else batch.values[:, traced]
        return self.score(trace, batch.predicted)

    def layer_of_cells(self) -> Tensor:
        """All buckets belong to the first trace layer."""
        scope = self.profile.scope
        return scope.layer_of[scope.traced[0]].expand(self.cells)

    def empty(self) -> State:
        """No bucket filled; how many scores lie below, above, and nowhere."""
        return super().empty() | {"outside": torch.zeros(3, dtype=torch.int64)}

    def note(self, batch: Batch) -> State:
        """Scores (N,) and buckets (N, 1)."""
        scores = self.of(batch).detach().cpu().double()
        return {"scores": scores, "cells": self._bucket(scores)[:, None]}

    def _bucket(self, scores: Tensor) -> Tensor:
        lower, upper = self.bounds
        place = (scores - lower) * self.buckets / (upper - lower)
        if self.compat == "dnn-tip":
            edges = torch.linspace(lower, upper, self.buckets + 1, dtype=torch.float64)
            place = torch.searchsorted(edges, scores, right=True).double() - 1
            inside = (scores >= lower) & (scores < upper)
        else:
            place = place.ceil() - 1
            inside = (scores > lower) & (scores <= upper)
        return torch.where(inside, place.nan_to_num(0).clamp(0, self.buckets - 1).to(torch.int64), self.cells)

    def add(self, state: State, notes: State) -> None:
        """Fill buckets and count what fits into none."""
        super().add(state, notes)
        scores, (lower, upper) = notes["scores"], self.bounds
        nowhere = ~scores.isfinite()
        counts = torch.stack([((scores <= lower) & ~nowhere).sum(), ((scores > upper) & ~nowhere).sum(), nowhere.sum()])
        state["outside"] = state["outside"] + counts

    def merged(self, one: State, other: State) -> State:
        """Buckets filled by either."""
        return super().merged(one, other) | {"outside": one["outside"] + other["outside"]}

    def _middle(self, bucket: Tensor) -> Tensor:
        lower, upper = self.bounds
        return lower + (bucket + 0.5) * (upper - lower) / self.buckets

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """How far each input's score is from each empty bucket but its own, in widths of the interval."""
        numbers, scores = torch.arange(self.cells), self.of(batch)
        there = (scores[:, None] - self._middle(numbers)).abs() / (self.bounds[1] - self.bounds[0])
        own = numbers == self._bucket(scores.detach().cpu().double())[:, None]
        return numbers.expand(there.shape), torch.where(self.covered(state) | own, torch.inf, there)

    def raised(self, aims: Tensor) -> Tensor:
        """Any unit of the trace: a degree of surprise is of no unit."""
        traced = self.profile.scope.traced
        return traced[aims.clamp_min(0) % len(traced)]

    def distance(self, aiming: Aiming) -> Tensor:
        """Distance of the score to the middle of the bucket aimed at, in widths of the interval."""
        there = (self.of(aiming.batch)[:, None] - self._middle(aiming.aims.clamp_min(0))) / (
            self.bounds[1] - self.bounds[0]
        )
        return mean_of_aims(outside(there), aiming.aims).to(aiming.batch.values.dtype)

    def describe(self, obligation: int) -> str:
        """Which bucket."""
        half = (self.bounds[1] - self.bounds[0]) / self.buckets / 2
        middle = float(self._middle(torch.tensor(obligation)))
        return f"surprise ({self.name.upper()}) in ({middle - half:.4g}, {middle + half:.4g}]"


def by_class(classes: Tensor) -> list[tuple[int, Tensor]]:
    """Each class that occurs, with the rows that have it."""
    return [(label, (classes == label).nonzero()[:, 0]) for label in classes.unique().tolist()]


def scattered(parts: list[tuple[Tensor, Tensor]], like: Tensor) -> Tensor:
    """Numbers computed class by class, as (rows, numbers), in the order of the inputs (N,); gradients go through."""
    if not parts:
        return like.new_zeros(0)
    rows, numbers = torch.cat([r for r, _ in parts]), torch.cat([n for _, n in parts])
    return torch.zeros(len(like), dtype=numbers.dtype).index_put((rows,), numbers)
