"""How different the disagreements are from each other, and from real images.

Counting disagreements alone rewards a search that finds one and copies it. These numbers do not:

- distinct images: to the last bit, and further than `NEAR` from every one counted before (root mean square of the pixels'
  differences; 1 is black against white);
- label pairs: how many equally frequent pairs (A's answer, B's answer) would be as diverse;
- how far the nearest other disagreement is;
- the log-volume that they span in the pixels (the larger, the more different; minus infinity where some depend on each other).

FID and KID against real images are asked for apart (`questions.py`): they need a network.

What was published for DiffGAN (Shannon's entropy of all pixels, the absolute log-determinant) is given with `published`,
for comparison with its tables alone: it measures how many pixels are lit, and calls nearly equal images diverse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from foible.differing.answers import Answers
from foible.metrics.costs import Spread
from foible.metrics.diversity import (
    NEAR,
    GeometricDiversity,
    Kinds,
    distinct,
    effective_kinds,
    exact_distinct,
    flat,
    geometric_diversity,
    neighbour_distances,
)
from foible.metrics.published_diversity import published_geometric_diversity, published_shannon
from foible.types import Images

FEATURES = "pixels"
SAMPLE, DRAWS = 100, 5  # of the log-volume: images in a draw, and draws


@dataclass(frozen=True)
class Published:
    """The two numbers of DiffGAN's tables."""

    shannon: float
    geometric: float


@dataclass(frozen=True)
class Variety:
    """Numbers about a set of images; those of other features or set sizes are not comparable."""

    images: int
    exact: int
    near: int
    pairs: Kinds
    neighbours: Spread
    volume: GeometricDiversity
    features: str = FEATURES
    published: Published | None = None

    @property
    def figures(self) -> dict[str, float | None]:
        """Numbers for a gate."""
        finite = self.volume.log_volume if math.isfinite(self.volume.log_volume) else None
        return {
            "distinct": self.near,
            "exactly_distinct": self.exact,
            "label_pairs": self.pairs.effective,
            "nearest_other": self.neighbours.median,
            "log_volume": finite,
        }


def variety(images: Images, answers: Answers, published: bool = False, seed: int = 0) -> Variety:
    """How various some images (N, C, H, W) are on which two models gave these answers."""
    rows = flat(images)
    pairs = effective_kinds(zip(answers.a.tolist(), answers.b.tolist(), strict=True))
    rng = torch.Generator().manual_seed(seed)
    return Variety(
        len(images),
        len(exact_distinct(images)),
        len(distinct(rows, NEAR)),
        pairs,
        neighbour_distances(rows),
        geometric_diversity(rows, rng, SAMPLE, DRAWS),
        published=_published(images) if published else None,
    )


def _published(images: Images) -> Published:
    return Published(published_shannon(images), published_geometric_diversity(images[:SAMPLE].flatten(1)))
