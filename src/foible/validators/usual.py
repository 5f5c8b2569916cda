"""What is usual: a raw number measured on real images of the domain."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from foible.domains import RealImages
from foible.types import Images
from foible.validators.scored import Percentile, in_chunks

COUNT = 1000  # real images looked at


def usual(data: RealImages, raw: Callable[[Images, Tensor], Tensor], count: int = COUNT) -> Percentile:
    """The raw numbers of real images drawn from `data`, the same ones every time."""
    index = some(data, count)
    return Percentile.of(in_chunks(raw, data.images(index), data.labels[index]))


def some(data: RealImages, count: int, seed: int = 0) -> Tensor:
    """Positions of so many real images, the same ones every time."""
    return torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(seed))[:count]
