"""FID and KID: how far made images are from real ones, in the features of a network that is named in the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foible.domains.library import import_torchvision
from foible.errors import DataError, MissingExtra
from foible.training.features import Features, GivenFeatures
from foible.types import Images

SUBSETS = 20  # of KID
BATCH = 256  # feature rows handed over at a time


@dataclass(frozen=True)
class Realism:
    """Distances between made and real images; comparable only where the extractor is the same."""

    fid: float
    kid: float
    extractor: str
    real: int
    made: int


@torch.no_grad()
def realism(real: Iterable[Images], made: Iterable[Images], features: Features, seed: int = 0) -> Realism:
    """Compare two streams of image batches.

    Args:
        real: batches of real images.
        made: batches of made images; as many images as real ones keep FID unbiased against others of that count.
        features: what to look at.
        seed: chooses the subsets of KID.
    """
    fid, kid = _metrics(features)
    counts = {True: 0, False: 0}
    for is_real, batches in ((True, real), (False, made)):
        for images in batches:
            counts[is_real] += len(images)
            fid.update(images, real=is_real)
            kid.update(images, real=is_real)
    if min(counts.values()) < 2:
        raise DataError(f"FID needs at least 2 images on each side, got {counts[True]} and {counts[False]}")
    kid.subset_size = min(1000, min(counts.values()) // 2)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        mean, _ = kid.compute()
    return Realism(_distance(fid), float(mean), features.name, counts[True], counts[False])


def feature_distance(real: Tensor, made: Tensor, name: str, seed: int = 0) -> Realism:
    """FID and KID of features that are already there, such as those of a set of findings.

    Args:
        real: features of real images (N, features).
        made: features of the others (M, features), made by the same extractor.
        name: what made the features.
        seed: chooses the subsets of KID.
    """
    if real.ndim != 2 or made.ndim != 2 or real.shape[1] != made.shape[1]:
        raise DataError(
            f"features must be (images, features) of one extractor, got {tuple(real.shape)} and {tuple(made.shape)}",
            "flatten them, and use the same extractor for both",
        )
    return realism(real.split(BATCH), made.split(BATCH), GivenFeatures(name, real.shape[1]), seed)


def _distance(fid: Any) -> float:
    """FID, or NaN where the features are too few or too alike for a matrix root; KID is still a number then."""
    try:
        return float(fid.compute())
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        return float("nan")


def import_metrics() -> tuple[Any, Any]:
    """The classes of FID and KID, imported on first use."""
    with suppress(MissingExtra):
        import_torchvision()  # torchmetrics meets it on import; a mismatched build must be put right before
    try:
        from torchmetrics.image.fid import FrechetInceptionDistance
        from torchmetrics.image.kid import KernelInceptionDistance
    except ImportError:
        raise MissingExtra("torchmetrics", "training", "FID and KID") from None
    return FrechetInceptionDistance, KernelInceptionDistance


def _metrics(features: Features) -> tuple[Any, Any]:
    frechet, kernel = import_metrics()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that features are kept in memory: a few thousand are
        kid = kernel(features, subsets=SUBSETS, subset_size=2, normalize=True)
    return frechet(features, normalize=True), kid
