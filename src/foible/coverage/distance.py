"""Surprise as a distance from familiar traces: DSA by nearest neighbours, MDSA by Mahalanobis distance.

DSA (Kim, Feldt and Yoo, ICSE 2019): a / b, where a is the distance of a trace to the nearest one of its class, and b
that of this nearest one to the nearest of another class. MDSA (Kim et al., ESEC/FSE 2020): distance to the mean of the
class in units of its spread.

Differs from others in: where two classes share a trace b is 0 and the score infinite, which is counted apart. "nlc"
measures b from the input itself. Of MDSA "dnn-tip" gives the square, for all classes as one, by the pseudo-inverse;
otherwise a singular covariance gets a ridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from foible.coverage.likelihood import cholesky
from foible.coverage.moments import Moments, of_rows
from foible.coverage.surprise import Surprise, by_class, scattered
from foible.errors import DataError

RIDGE = 1e-6  # share of the mean variance that is added to every variance
BLOCK = 512  # rows compared with all traces at a time


class Nearest(NamedTuple):
    """The nearest of some traces: its number (N,) and how far it is (N,)."""

    place: Tensor
    distance: Tensor


@dataclass(eq=False)
class DSA(Surprise):
    """Distance-based surprise.

    Args:
        buckets: how many degrees of surprise.
        lower: where the first bucket begins.
        upper: where the last one ends.
        factor: without `upper`: how many times as far as ordinary inputs reach.
    """

    name, title = "dsa", "distance-based surprise coverage"
    modes: ClassVar[tuple[str, ...]] = ("dnn-tip", "nlc")

    def fit(self, traces: Tensor, classes: Tensor) -> None:
        """Keep the traces, class by class; how far each is from other classes is worked out when it is asked for."""
        if len(classes.unique()) < 2:
            raise DataError(f"coverage '{self.name}' needs traces of two classes", "profile more inputs")
        self.traces, self.half = traces, traces.square().sum(1) / 2
        labels, counts = classes.unique_consecutive(return_counts=True)
        ends = counts.cumsum(0)
        self.own = {int(c): slice(int(e - n), int(e)) for c, e, n in zip(labels, ends, counts, strict=True)}
        self.to_others = torch.full((len(traces),), torch.nan, dtype=traces.dtype)

    def score(self, traces: Tensor, classes: Tensor) -> Tensor:
        """a / b."""
        parts = []
        for label, rows in by_class(classes):
            mine, own = traces[rows], self.own[label]
            nearest = self._nearest(mine.detach(), own).place
            a = torch.linalg.vector_norm(mine - self.traces[nearest], dim=1)
            b = self._from_others(mine.detach(), label) if self.compat == "nlc" else self._between(nearest, label)
            parts.append((rows, a / b))
        return scattered(parts, traces)

    def _between(self, nearest: Tensor, label: int) -> Tensor:
        """How far known traces are from other classes; worked out once for each."""
        wanted = nearest.unique()
        wanted = wanted[self.to_others[wanted].isnan()]
        if len(wanted):
            self.to_others[wanted] = self._from_others(self.traces[wanted], label)
        return self.to_others[nearest]

    def _from_others(self, traces: Tensor, label: int) -> Tensor:
        """Distance to the nearest trace of another class: those before and those after this class."""
        own = self.own[label]
        sides = [side for side in (slice(0, own.start), slice(own.stop, len(self.traces))) if side.start < side.stop]
        return torch.stack([self._nearest(traces, side).distance for side in sides]).amin(0)

    def _nearest(self, rows: Tensor, known: slice) -> Nearest:
        """The nearest known trace to each row (N, D).

        Found by matrix products, a block at a time; the distance itself is then taken from the difference, which is
        exact where the product is not.
        """
        traces, half = self.traces[known], self.half[known]
        places = [torch.addmm(half, block, traces.T, alpha=-1).numpy().argmin(1) for block in rows.split(BLOCK)]
        place = torch.from_numpy(np.concatenate(places)) + known.start
        return Nearest(place, torch.linalg.vector_norm(rows - self.traces[place], dim=1))


@dataclass(eq=False)
class MDSA(Surprise):
    """Mahalanobis-distance-based surprise.

    Args:
        buckets: how many degrees of surprise.
        lower: where the first bucket begins.
        upper: where the last one ends.
        factor: without `upper`: how many times as far as ordinary inputs reach.
    """

    name, title = "mdsa", "Mahalanobis-distance surprise coverage"

    def fit(self, traces: Tensor, classes: Tensor) -> None:
        """Mean and whitening matrix of each class.

        From all profiled inputs where only some are kept as traces. Where all are, from the traces given: those set apart to
        find the bounds must be new to the covariance, since to what made it a singular one gives small distances alone.
        """
        if self.compat == "dnn-tip":
            whole = of_rows(traces, joint=True)
            inverse = torch.linalg.pinv(whole.scatter / whole.total, hermitian=True)
            value, vector = torch.linalg.eigh(inverse)
            self.means, self.whiten = {0: whole.mean}, {0: vector * value.clamp_min(0).sqrt()}
            return
        moments = self.profile.classes
        if moments is None:
            raise DataError(
                f"coverage '{self.name}': the profile has no covariances of classes",
                "trace a narrower layer, or say how many classes there are",
            )
        sampled = int(moments.total.sum()) > len(self.profile.traces)
        self.means, self.whiten = {}, {}
        for label, rows in by_class(classes):
            mine = Moments(*(part[label] for part in moments)) if sampled else of_rows(traces[rows], joint=True)
            covariance = mine.scatter / mine.total
            diagonal = covariance.diagonal().mean().clamp_min(1e-300) * RIDGE
            factor = cholesky(covariance + diagonal * torch.eye(len(covariance), dtype=torch.float64))
            eye = torch.eye(len(covariance), dtype=torch.float64)
            self.whiten[label] = torch.linalg.solve_triangular(factor, eye, upper=False).T
            self.means[label] = mine.mean

    def score(self, traces: Tensor, classes: Tensor) -> Tensor:
        """The distance, or for dnn-tip its square."""
        exact, parts = traces.double(), []
        plain = self.compat == "dnn-tip"
        for label, rows in [(0, torch.arange(len(traces)))] if plain else by_class(classes):
            square = ((exact[rows] - self.means[label]) @ self.whiten[label]).square().sum(1)
            parts.append((rows, square if plain else (square + 1e-12).sqrt()))
        return scattered(parts, traces)
