"""Is there a real image of such a shape? Distance to the nearest typical outline, in histograms of gradients.

Dalal and Triggs, "Histograms of oriented gradients for human detection" (CVPR 2005), on drawings that were first set upright and
centred (LeCun et al. 1998 call it deskewing). Outlines of real images are drawn together to a few hundred typical ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from foible.types import Images
from foible.validators.parts import Tensors

BINS = 8  # directions of a gradient
CELL = 4  # pixels of a cell's side; neighbouring cells share a border of one


@dataclass(frozen=True)
class Shapes(Tensors):
    """Typical outlines of a domain's real images."""

    part: ClassVar[str] = "shapes"

    middle: Tensor  # (size,): the mean outline
    directions: Tensor  # (size, kept): in which outlines differ most
    typical: Tensor  # (count, kept)
    upright: Tensor  # (): 1 where images are drawings to be set upright first

    def __call__(self, images: Images) -> Tensor:
        """Minus the distance to the nearest typical outline (N,)."""
        away = outlines(images, bool(self.upright)) - self.middle
        place = away @ self.directions
        beside = (away - place @ self.directions.T).square().sum(1)  # what no direction accounts for
        return -(torch.cdist(place, self.typical).amin(1).square() + beside).sqrt()


def outlines(images: Images, upright: bool) -> Tensor:
    """Directions of gradients, counted in cells (N, size), whatever the contrast."""
    grey = images.mean(1, keepdim=True)
    padded = functional.pad(set_upright(grey) if upright else grey, (1, 1, 1, 1), mode="replicate")[:, 0]
    across, down = padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2], padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]
    strength = (across.square() + down.square()).sqrt()
    turn = (torch.atan2(down, across) / (2 * math.pi) * BINS) % BINS
    lower = turn.floor()
    share, first = turn - lower, lower.long() % BINS
    maps = torch.zeros(len(images), BINS, *strength.shape[1:])
    maps.scatter_add_(1, first[:, None], (strength * (1 - share))[:, None])
    maps.scatter_add_(1, ((first + 1) % BINS)[:, None], (strength * share)[:, None])
    cells = functional.avg_pool2d(maps, CELL + 2, CELL, padding=1).flatten(1)
    even: Tensor = cells / (torch.linalg.vector_norm(cells, dim=1, keepdim=True) + 1e-3)
    return even.sqrt()


def set_upright(drawings: Images) -> Images:
    """Light drawings on dark (N, 1, H, W), moved to the middle and sheared until their stroke runs straight down."""
    count, _, height, width = drawings.shape
    ink = drawings[:, 0]
    rows, columns = torch.linspace(-1, 1, height).view(1, -1, 1), torch.linspace(-1, 1, width).view(1, 1, -1)
    total = ink.sum((1, 2)).clamp_min(1e-6)
    row, column = (ink * rows).sum((1, 2)) / total, (ink * columns).sum((1, 2)) / total
    down, across = rows - row.view(-1, 1, 1), columns - column.view(-1, 1, 1)
    spread = ((ink * down.square()).sum((1, 2)) / total).clamp_min(1e-6)
    lean = ((ink * across * down).sum((1, 2)) / total / spread).clamp(-1, 1)
    one, none = torch.ones(count), torch.zeros(count)
    matrices = torch.stack([torch.stack([one, lean, column], 1), torch.stack([none, one, row], 1)], 1)
    grid = functional.affine_grid(matrices, list(drawings.shape), align_corners=True)
    return functional.grid_sample(drawings, grid, align_corners=True)
