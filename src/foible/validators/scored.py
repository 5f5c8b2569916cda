"""What automatic validators have in common: a score in [0, 1], a threshold, and how a score is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from foible.batching import Chunks
from foible.records import Verdict
from foible.types import Images

About = Literal["image", "label"]
CHUNK = 16  # images at a time, padded, so that each is scored in company of one size


class Scored(ABC):
    """A validator that gives every image one score and accepts it from the threshold on."""

    name: str
    about: About
    threshold: float

    @abstractmethod
    def score(self, images: Images, labels: Tensor) -> Tensor:
        """One number in [0, 1] per image (N,), high is good."""

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """One verdict per image."""
        scores = in_chunks(self.score, images, labels)
        return [(v,) for v in verdicts(self.name, self.about, scores, self.threshold)]


@torch.inference_mode()
def in_chunks(score: Callable[[Images, Tensor], Tensor], images: Images, labels: Tensor) -> Tensor:
    """Scores (N, ...) of any number of images; those of one image do not depend on its neighbours."""
    return Chunks(CHUNK)(lambda x, y: (score(x, y),), images, labels)[0].clone()


def verdicts(
    name: str, about: About, scores: Tensor, threshold: float, why: Sequence[str] | None = None
) -> list[Verdict]:
    """Scores (N,) as verdicts, with a reason for each where there are reasons."""
    reasons = [""] * len(scores) if why is None else why
    return [
        Verdict(name, score >= threshold, round(score, 6), about, threshold, reason)
        for score, reason in zip(scores.tolist(), reasons, strict=True)
    ]


@dataclass(frozen=True)
class Percentile:
    """Where a raw number stands among those of real images: the share of real images that look stranger.

    An image that looks stranger than all `n` of them gets 1 / (n + 1), and never 0. A threshold of 0.02 turns away
    2 % of real images, whatever the raw number means.
    """

    ranked: Tensor  # raw numbers of real images, ascending

    @classmethod
    def of(cls, raw: Tensor, points: int = 1000) -> Percentile:
        """From the raw numbers of real images, thinned out to at most so many."""
        ranked = raw.sort().values
        index = torch.linspace(0, len(ranked) - 1, min(points, len(ranked))).round().long()
        return cls(ranked[index])

    def __call__(self, raw: Tensor) -> Tensor:
        """Shares (N,) in (0, 1]."""
        below = torch.searchsorted(self.ranked, raw.contiguous())
        return (1 + below).to(torch.float32) / (1 + len(self.ranked))
