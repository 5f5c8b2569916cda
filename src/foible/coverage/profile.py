"""What a model's units do on ordinary data, fitted in one pass: ranges, spread, and sampled traces per class.

Two profiles of parts of the data merge into the profile of all of it, whichever way it was split. Memory does not
grow with the data: of the traces of each class a fixed number is kept, those whose hash is smallest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.hashing import row_hashes
from foible.coverage.moments import Moments, nothing, of_rows
from foible.coverage.scope import Scope
from foible.errors import DataError

TRACES = 500  # of each class
JOINT_MB = 512  # beyond this the classes' covariances are left out


@dataclass(frozen=True)
class Profile:
    """Ranges, moments and traces of a model's units over profiling data.

    Args:
        scope: which units.
        low: smallest value of each unit (units,).
        high: largest value (units,).
        moments: of each unit.
        classes: of the traces of each predicted class, with covariance; None where that would take too much memory.
        traces: sampled traces (T, D), sorted by class and hash.
        traced_class: their predicted classes (T,).
        traced_hash: their hashes (T,).
        keep: how many traces each class may have.
        model: digest of the model.
        source: what the profiling data were, for people.
    """

    scope: Scope
    low: Tensor
    high: Tensor
    moments: Moments
    classes: Moments | None
    traces: Tensor
    traced_class: Tensor
    traced_hash: Tensor
    keep: int = TRACES
    model: str = "unknown"
    source: str = ""

    @property
    def count(self) -> int:
        """How many inputs were profiled."""
        return int(self.moments.total)

    @property
    def span(self) -> Tensor:
        """Largest minus smallest value of each unit (units,)."""
        return self.high - self.low

    @property
    def constant(self) -> Tensor:
        """Units that never varied (units,)."""
        return ~(self.high > self.low)

    @property
    def spread(self) -> Tensor:
        """Standard deviation of each unit (units,), in the precision of the values."""
        return (self.moments.scatter / self.moments.total.clamp_min(1)).sqrt().to(self.low.dtype)

    def merged(self, other: Profile) -> Profile:
        """The profile of both sets of inputs."""
        if (self.scope, self.model, self.keep) != (other.scope, other.model, other.keep):
            raise DataError(
                "profiles of different models or layers cannot be merged", "profile the same layers of the same model"
            )
        traces, classes, hashes = _sample(
            torch.cat([self.traces, other.traces]),
            torch.cat([self.traced_class, other.traced_class]),
            torch.cat([self.traced_hash, other.traced_hash]),
            self.keep,
        )
        return replace(
            self,
            low=torch.minimum(self.low, other.low),
            high=torch.maximum(self.high, other.high),
            moments=self.moments.merged(other.moments),
            classes=self.classes.merged(other.classes) if self.classes and other.classes else None,
            traces=traces,
            traced_class=classes,
            traced_hash=hashes,
        )


def profile_of(batch: Batch, model: str = "unknown", source: str = "", keep: int = TRACES) -> Profile:
    """The profile of one batch."""
    scope, values = batch.scope, batch.values.detach().cpu()
    if not len(values):
        raise DataError("a profile needs at least one input", "give it images of the training set")
    predicted = batch.predicted.cpu()
    known = predicted >= 0
    traces = values[:, scope.traced]
    sampled = _sample(traces[known], predicted[known], row_hashes(traces[known]), keep)
    return Profile(
        scope=scope,
        low=values.amin(0),
        high=values.amax(0),
        moments=of_rows(values),
        classes=_by_class(traces, predicted, scope.classes),
        traces=sampled[0],
        traced_class=sampled[1],
        traced_hash=sampled[2],
        keep=keep,
        model=model,
        source=source,
    )


def fitted(batches: Iterable[Batch], model: str = "unknown", source: str = "", keep: int = TRACES) -> Profile:
    """The profile of a stream of batches, in one pass."""
    profile: Profile | None = None
    for batch in batches:
        part = profile_of(batch, model, source, keep)
        profile = part if profile is None else profile.merged(part)
    if profile is None:
        raise DataError("a profile needs at least one input", "give it images of the training set")
    return profile


def _by_class(traces: Tensor, predicted: Tensor, classes: int) -> Moments | None:
    """The moments of each class (classes, D) with covariance (classes, D, D), or None where they would be too large."""
    width = traces.shape[1]
    if not classes or classes * width * width * 8 > JOINT_MB << 20:
        return None
    every = nothing(classes, width, joint=True)
    for label in predicted[predicted >= 0].unique().tolist():
        part = of_rows(traces[predicted == label], joint=True)
        for whole, piece in zip(every, part, strict=True):
            whole[label] = piece
    return every


def _sample(traces: Tensor, classes: Tensor, hashes: Tensor, keep: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of each class the traces with the smallest hashes: the same sample whatever the order and the split."""
    order = torch.argsort(hashes, stable=True)
    order = order[torch.argsort(classes[order], stable=True)]
    ranked = classes[order]
    first = torch.searchsorted(ranked, ranked)
    order = order[torch.arange(len(ranked)) - first < keep]
    return traces[order], classes[order], hashes[order]
