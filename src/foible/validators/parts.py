"""The fitted parts of a judge. Each is a few tensors, and turns what is seen into one number per image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional

from foible.validators.panel import Sight

LEAST = 1e-4  # scores are kept this far from 0 and 1 before their logarithm is taken


def logit(scores: Tensor) -> Tensor:
    """Log-odds of scores in [0, 1]."""
    return torch.logit(scores, eps=LEAST)


@dataclass(frozen=True)
class Tensors:
    """A few named tensors that are stored together: `part` is what model files call them, whatever the class is called."""

    part: ClassVar[str]

    @classmethod
    def stored(cls, tensors: Mapping[str, Tensor], name: str | None = None) -> Self:
        """Take one's own out of a file's."""
        prefix = name or cls.part
        return cls(**{f.name: tensors[f"{prefix}.{f.name}"] for f in fields(cls)})

    def named(self, name: str | None = None) -> dict[str, Tensor]:
        """As they go into a file."""
        return {f"{name or self.part}.{f.name}": getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class Closeness(Tensors):
    """Features against those of real training images: the distance to the nearest class, all classes spread alike.

    This is the Mahalanobis distance of Lee et al. (NeurIPS 2018) in the directions in which real images vary most.
    """

    part: ClassVar[str] = "closeness"

    middle: Tensor  # (size,)
    whiten: Tensor  # (size, kept): to directions in which real images of a class have spread one
    centres: Tensor  # (classes, kept)

    def place(self, features: Tensor) -> Tensor:
        """Features (N, size) in those directions (N, kept)."""
        return (features - self.middle) @ self.whiten

    def __call__(self, sight: Sight) -> Tensor:
        """Minus the distance to the nearest class (N,)."""
        return -torch.cdist(self.place(sight.features), self.centres).amin(1)


@dataclass(frozen=True)
class Head(Tensors):
    """One hidden layer on the panel's whitened features: valid or not."""

    part: ClassVar[str] = "head"

    inner: Tensor  # (hidden, kept)
    inner_bias: Tensor
    outer: Tensor  # (1, hidden)
    outer_bias: Tensor

    def __call__(self, places: Tensor) -> Tensor:
        """Probability of being valid (N,)."""
        hidden = functional.linear(squashed(places), self.inner, self.inner_bias).relu()
        return functional.linear(hidden, self.outer, self.outer_bias)[:, 0].sigmoid()


def squashed(places: Tensor) -> Tensor:
    """Places with far outliers drawn in, so that an absurd image cannot overflow the head."""
    return torch.asinh(places)


@dataclass(frozen=True)
class Weighing(Tensors):
    """How evidence becomes two answers: weights, in log-odds, and what is added."""

    part: ClassVar[str] = "weighing"

    weights: Tensor  # (evidence,): what speaks for a valid image
    bias: Tensor  # ()
    trust: Tensor  # (sources,): by how much the log-probabilities of the panel and of each reader count

    def validity(self, evidence: Tensor) -> Tensor:
        """Probability of a valid image (N,) from evidence (N, evidence)."""
        return (evidence @ self.weights + self.bias).sigmoid()

    def classes(self, sources: Tensor) -> Tensor:
        """Probability of every class (N, classes), if it is a valid image, from log-probabilities (N, sources, classes)."""
        return (sources * self.trust[None, :, None]).sum(1).softmax(1)


def kept_score(validity: Tensor, classes: Tensor, labels: Tensor) -> Tensor:
    """How sure it is that the image shows its label (N,): P(label | valid), and less where the image is called invalid.

    Args:
        validity: scores (N,) whose line is at one half: from there on nothing is taken off.
        classes: probabilities (N, classes).
        labels: expected classes (N,).
    """
    return (2 * validity).clamp_max(1) * classes.gather(1, labels[:, None])[:, 0]
