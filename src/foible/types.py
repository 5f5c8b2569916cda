"""The values that flow between the rooms.

One currency: `Images` are float32, NCHW, in [0, 1]. Only generators and classifier adaptors convert.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

import torch
from torch import Tensor

Images: TypeAlias = Tensor
"""float32 (N, channels, height, width), values in [0, 1]."""

Latents: TypeAlias = Tensor
"""float32 (N, *latent shape)."""

State: TypeAlias = dict[str, Tensor]
"""What a search remembers; the first dimension of every tensor is the lane."""


class Capability(StrEnum):
    """What a classifier can give beyond its scores."""

    GRADIENT = "gradient"
    ACTIVATIONS = "activations"


class Status(StrEnum):
    """How the search from one origin ended."""

    REJECTED = "rejected"  # the classifier already gets the origin wrong: set apart, never searched
    HELD = (
        "held"  # the budget is spent and no failure was seen (where only those that count end a search: none of them)
    )
    LOST = "lost"  # failures were seen, none survived rounding to an 8-bit image and a second look
    FOUND = "found"  # a failure that survives both


class Arm(StrEnum):
    """The side of the comparison an outcome belongs to."""

    SEARCH = "search"
    BASELINE = "baseline"


@dataclass(frozen=True)
class LatentSpace:
    """Where latents live: bounds and natural step, measured from samples and never typed in.

    `low`, `high` (extremes) and `step` (standard deviation per coordinate) broadcast against `shape`.
    """

    shape: tuple[int, ...]
    low: Tensor
    high: Tensor
    step: Tensor

    @classmethod
    def measured(cls, latents: Latents) -> LatentSpace:
        """The space spanned by sampled or encoded latents, shape (N, *latent)."""
        return cls(tuple(latents.shape[1:]), latents.min(), latents.max(), latents.std(0, correction=0))

    @property
    def range(self) -> float:
        """Largest minus smallest coordinate seen: the unit in which search extents are given."""
        return float(self.high.max() - self.low.min())

    def clamp(self, latents: Latents) -> Latents:
        """Latents brought back inside the bounds, which broadcast over leading dimensions."""
        return torch.clamp(latents, self.low, self.high)


@dataclass(frozen=True)
class OriginBatch:
    """Accepted starting points: attempt numbers (L,), expected labels (L,) and latents (L, *latent)."""

    attempts: Tensor
    labels: Tensor
    latents: Latents

    def __len__(self) -> int:
        return len(self.attempts)

    def rows(self, index: Tensor) -> OriginBatch:
        """The origins at these positions."""
        return OriginBatch(self.attempts[index], self.labels[index], self.latents[index])


@dataclass(frozen=True)
class Proposal:
    """Candidates that still need a score: latents (M, *latent) and the lane each belongs to (M,)."""

    latents: Latents
    lanes: Tensor


@dataclass(frozen=True)
class Evaluation:
    """All that is known about a chunk of candidates."""

    latents: Latents
    images: Images
    labels: Tensor
    outputs: Mapping[str, Tensor]  # logits (N, classes) by classifier name; two entries = differential testing

    @property
    def logits(self) -> Tensor:
        """Scores of the first (usually the only) classifier."""
        return next(iter(self.outputs.values()))


@dataclass(frozen=True)
class Feedback:
    """What a search is told about its proposal: scores (M, objectives), lower is better, and failures (M,).

    `looks` (M,) are evaluations that were spent beside the classifier's own, where the search asks the judge.
    """

    scores: Tensor
    failed: Tensor
    looks: Tensor | None = None


@dataclass(frozen=True)
class Budget:
    """How much one origin (evaluations) and a whole campaign (seconds) may cost."""

    evaluations: int
    seconds: float | None = None


@dataclass(frozen=True)
class Verdict:
    """A validator's word on one image: does the failure count, and the number behind it in [0, 1].

    It is about the "image" (is it of the domain?) or about the "label" (is it kept?), and accepted when the score
    reaches the threshold.
    """

    validator: str
    accepted: bool
    score: float
    about: Literal["image", "label"] = "image"
    threshold: float = 0.5


def everyone_accepts(verdicts: Iterable[Verdict], about: Literal["image", "label"] | None = None) -> bool:
    """Whether nobody objects: all verdicts accept, or all about the image or the label where that is asked."""
    return all(v.accepted for v in verdicts if about is None or v.about == about)


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended: a row of the run's table, failures or not."""

    arm: Arm
    attempt: int
    label: int
    source: str
    status: Status
    origin_predicted: int
    evaluations: int = 0
    rounds: int = 0
    best_score: float | None = None


@dataclass(frozen=True)
class Finding:
    """A confirmed failure: what the classifier said before and after, and all that is needed to replay it."""

    arm: Arm
    attempt: int
    label: int
    predicted: int
    evaluations: int
    rounds: int
    origin_probabilities: tuple[float, ...]
    probabilities: tuple[float, ...]
    latent_distance: float
    pixel_distance: float
    latent: Latents
    origin_latent: Latents
    image: str
    origin_image: str
    image_sha256: str
    verdicts: tuple[Verdict, ...] = ()

    @property
    def confidence(self) -> float:
        """Probability the classifier gives its wrong answer."""
        return self.probabilities[self.predicted]

    @property
    def counts(self) -> bool:
        """Whether every validator takes the image for one of the domain and its label for kept."""
        return everyone_accepts(self.verdicts)
