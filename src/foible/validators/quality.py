"""Can a person make out anything? Contrast, sharpness and the brightness of the ground, beside those of real images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.types import Images
from foible.validators.parts import Tensors

RARE = 0.005  # share of good images beyond a bound: until there, quality says nothing


@dataclass(frozen=True)
class Quality(Tensors):
    """Bounds within which the qualities of good images lie; only what is beyond them counts."""

    part: ClassVar[str] = "quality"

    low: Tensor  # (3,)
    high: Tensor  # (3,)
    spread: Tensor  # (3,)

    @classmethod
    def of(cls, images: Images) -> Quality:
        """From good images: too faint and too blurred are on one side only, a ground can be too dark and too bright."""
        found = qualities(images)
        low, high = found.quantile(RARE, 0), found.quantile(1 - RARE, 0)
        high[:2] = torch.inf
        return cls(low, high.clamp_max(1e4), found.std(0).clamp_min(0.02))

    def __call__(self, images: Images) -> Tensor:
        """How far beyond the bounds, in spreads, as numbers up to zero (N, 3): contrast, sharpness, ground."""
        found = qualities(images)
        beyond = torch.minimum(found - self.low, self.high - found).clamp_max(0)
        return beyond / self.spread


def qualities(images: Images) -> Tensor:
    """Logarithm of contrast, logarithm of sharpness relative to it, and brightness of the border (N, 3)."""
    grey = images.mean(1)
    flat = grey.flatten(1)
    contrast = flat.quantile(0.98, 1) - flat.quantile(0.02, 1)
    steps = torch.cat([grey.diff(dim=1).abs().flatten(1), grey.diff(dim=2).abs().flatten(1)], 1).quantile(0.97, 1)
    border = torch.cat([grey[:, 0], grey[:, -1], grey[:, :, 0], grey[:, :, -1]], 1).median(1).values
    return torch.stack([(contrast + 0.01).log(), ((steps + 0.002) / (contrast + 0.01)).log(), border], 1)
