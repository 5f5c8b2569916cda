"""Same weights, another runtime or another batch size: how far the numbers drift.

Everything is compared with A's answers in batches of the first size. Rows of the map are a model and a batch size. Exact sameness is
rare between runtimes and common within one; what matters is whether the drift comes near the margins that decide. `closest` is
the smallest margin between the two best scores that A has on any of the images: drift well below half of it cannot flip a label.
A model asked twice in the same batches that gives other numbers is not deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.metrics.costs import Spread, spread
from foible.protocols import Classifier
from foible.types import Images

SIZES = (64, 1, 7, 16, 256)


@dataclass(frozen=True)
class Drift:
    """One row of the map: how far the scores of a model in batches of this size are from A's in batches of the first."""

    model: str
    batch: int
    exact: int
    flips: int
    largest: float
    drift: Spread


@dataclass(frozen=True)
class Parity:
    """The map, the margins it is to be seen beside, which models gave other numbers when asked twice, and drift by class."""

    images: int
    rows: tuple[Drift, ...]
    closest: float
    unsteady: tuple[str, ...]
    by_class: tuple[tuple[int, float], ...]

    @property
    def figures(self) -> dict[str, float | None]:
        """Numbers for a gate."""
        return {
            "drift_images": self.images,
            "drift_largest": max(row.largest for row in self.rows),
            "drift_flips": max(row.flips for row in self.rows),
            "drift_unsteady": len(self.unsteady),
            "smallest_margin": self.closest,
        }

    def largest(self, model: str) -> float:
        """The largest drift of a model over all batch sizes."""
        return max(row.largest for row in self.rows if row.model == model)


def parity(models: Sequence[Classifier], images: Images, sizes: Sequence[int] = SIZES) -> Parity:
    """The map of drift over models and batch sizes; the first model in batches of the first size is what all are compared with."""
    if not models or not len(images) or not sizes:
        raise RecipeError("a map of drift needs a model, images and batch sizes")
    usual = scores(models[0], images, sizes[0])
    best = usual.topk(2, 1).values
    rows, unsteady = [], []
    worst = torch.zeros(len(images), dtype=usual.dtype)
    for model in models:
        for size in sizes:
            now = scores(model, images, size)
            apart = (now - usual).abs().amax(1)
            worst = torch.maximum(worst, apart)
            flips = int((now.argmax(1) != usual.argmax(1)).sum())
            exact = int((apart == 0).sum())
            rows.append(Drift(model.name, size, exact, flips, float(apart.max()), spread(apart.tolist())))
        if not torch.equal(scores(model, images, sizes[0]), scores(model, images, sizes[0])):
            unsteady.append(model.name)
    named = usual.argmax(1)
    by_class = tuple((c, float(worst[named == c].max())) for c in named.unique().tolist())
    return Parity(len(images), tuple(rows), float((best[:, 0] - best[:, 1]).min()), tuple(unsteady), by_class)


@torch.inference_mode()
def scores(model: Classifier, images: Images, size: int) -> Tensor:
    """What a model says of images in batches of this size (N, classes), in double precision."""
    return torch.cat([model(some).double().cpu() for some in images.split(size)])
