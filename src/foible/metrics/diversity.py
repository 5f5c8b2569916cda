"""How different the images of a set are from each other: volume, kinds, neighbours, duplicates.

All but the label pairs look at vectors (images, features): flattened pixels or what a network makes of them. A number
means nothing without the name of its features, and numbers of different features or set sizes are not comparable.

- Geometric diversity: log-determinant of the Gram matrix V V^T, the volume that the images span. Kulesza and Taskar,
  Foundations and Trends in Machine Learning 5 (2012). The sign is kept: a set with a duplicate spans nothing and has
  minus infinity. (Published code takes the absolute value, which gives nearly redundant sets large scores, and 0 for
  those with a duplicate; see `published_diversity.py`.)
- Effective number of label pairs: e^H of the shares of (label of A, label of B), the number of equally frequent pairs
  that would be as diverse. Hill, Ecology 54 (1973).
- Nearest neighbours and duplicates: exact, see `nearest.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.metrics.costs import Spread, spread
from foible.metrics.nearest import BLOCK, Metric, nearest

NEAR = 0.05  # images nearer than this are copies: root mean square of the pixels' differences, black to white is 1
SAMPLE, DRAWS = 1000, 30  # as published
TOGETHER = 256  # vectors compared with each other at a time


@dataclass(frozen=True)
class GeometricDiversity:
    """Mean log-volume over `draws` samples; minus infinity when one of them is dependent, `flat` says how many are."""

    log_volume: float
    images: int
    draws: int
    flat: int


@dataclass(frozen=True)
class Kinds:
    """How many kinds there are, how many equally frequent ones that is worth, and the share of the commonest."""

    distinct: int
    effective: float
    largest_share: float


def log_volume(features: Tensor) -> float:
    """Log-determinant of the Gram matrix of vectors (images, features); minus infinity where they are dependent.

    >>> round(log_volume(torch.eye(3) * 2), 3)  # the logarithm of 2^6
    4.159
    """
    _check(features)
    count, size = features.shape
    if count > size:
        return -math.inf
    if count == 0:
        return 0.0
    lengths = torch.linalg.svdvals(features.double())
    if lengths[-1] <= lengths[0] * size * torch.finfo(torch.float64).eps:  # numerically dependent, as in matrix_rank
        return -math.inf
    return float(2 * lengths.log().sum())


def geometric_diversity(
    features: Tensor, rng: torch.Generator, sample: int = SAMPLE, draws: int = DRAWS
) -> GeometricDiversity:
    """Mean log-volume of random samples, so that sets of different size can be compared.

    Args:
        features: (images, features), at least as many features as a sample has images.
        rng: draws the samples.
        sample: images per draw; smaller sets are taken whole, once.
        draws: how many samples.
    """
    _check(features)
    count = len(features)
    if count <= sample:
        whole = log_volume(features)
        return GeometricDiversity(whole, count, 1, int(whole == -math.inf))
    volumes = [log_volume(features[torch.randperm(count, generator=rng)[:sample]]) for _ in range(draws)]
    return GeometricDiversity(sum(volumes) / draws, sample, draws, sum(v == -math.inf for v in volumes))


def effective_kinds(kinds: Iterable[Hashable]) -> Kinds:
    """The diversity of label pairs, or of any other kinds.

    >>> effective_kinds([(4, 9), (4, 9), (9, 4), (9, 4)]).effective
    2.0
    """
    counts = Counter(kinds)
    total = sum(counts.values())
    if total == 0:
        return Kinds(0, 0.0, 0.0)
    shares = [count / total for count in counts.values()]
    return Kinds(len(counts), math.exp(-sum(p * math.log(p) for p in shares)), max(shares))


def neighbour_distances(features: Tensor, metric: Metric = "euclidean", block: int = BLOCK) -> Spread:
    """How far each image's nearest other one is, as a distribution."""
    _check(features)
    if len(features) < 2:
        return spread([])
    everyone = torch.arange(len(features))
    parts = [
        nearest(features[part], features, own=part, metric=metric, block=block).distances
        for part in everyone.split(TOGETHER)
    ]
    return spread(torch.cat(parts).tolist())


def exact_distinct(images: Tensor) -> Tensor:
    """Positions of images that are the first of their kind, to the last bit."""
    seen: set[bytes] = set()
    first = []
    for position, image in enumerate(images.contiguous()):
        content = image.numpy().tobytes()
        if content not in seen:
            seen.add(content)
            first.append(position)
    return torch.tensor(first, dtype=torch.long)


def distinct(features: Tensor, radius: float, metric: Metric = "euclidean") -> Tensor:
    """Positions of images that are further than `radius` from every one kept before them, in order.

    What is left out is a near duplicate of something kept. The work grows with images times kept ones: some minutes for
    100,000 images of 784 features.
    """
    _check(features)
    kept = torch.empty_like(features)
    chosen: list[int] = []
    for rows in torch.arange(len(features)).split(TOGETHER):
        part = features[rows]
        fresh = rows[nearest(part, kept[: len(chosen)], metric=metric).distances > radius]
        chosen_here: list[int] = []
        for position in fresh.tolist():
            beside = nearest(features[position][None], features[chosen_here], metric=metric)
            if float(beside.distances) > radius:
                chosen_here.append(position)
        kept[len(chosen) : len(chosen) + len(chosen_here)] = features[chosen_here]
        chosen += chosen_here
    return torch.tensor(chosen, dtype=torch.long)


def flat(images: Tensor) -> Tensor:
    """Images as vectors whose Euclidean distance is the root mean square of the pixels' differences."""
    rows = images.flatten(1)
    return rows / math.sqrt(max(1, rows.shape[1]))


def _check(features: Tensor) -> None:
    if features.ndim != 2:
        raise ValueError(f"features are (images, features), got shape {tuple(features.shape)}: flatten images first")
