"""Small random changes to images that keep their class: every image of a batch gets its own.

All of them are differentiable, so that a GAN can show them to its discriminator on real and made images alike
(Zhao et al., "Differentiable augmentation for data-efficient GAN training", 2020).
"""

from __future__ import annotations

import math

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor
from torch.nn import functional

from foible.images import blurred
from foible.types import Images


class Augmentation(BaseModel):
    """How far training images may be changed: the `[network.augment]` table of a training recipe. All off by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flip: bool = False  # left and right swapped, every second image
    shift: int = Field(0, ge=0)  # most pixels moved along each axis
    rotate: float = Field(0.0, ge=0, le=180)  # most degrees turned
    scale: float = Field(0.0, ge=0, lt=1)  # most relative growth or shrinking
    cutout: int = Field(0, ge=0)  # side of a square set to the image's mean
    contrast: float = Field(0.0, ge=0, lt=1)  # most relative change of contrast
    brightness: float = Field(0.0, ge=0, lt=1)  # most change of all values
    warp: float = Field(0.0, ge=0, lt=1)  # most displacement of a point, as a share of the image, smooth over it
    blur: float = Field(0.0, ge=0, le=1)  # most weight of a blurred copy, every second image
    noise: float = Field(0.0, ge=0, lt=1)  # most standard deviation of normal noise, every second image

    def __call__(self, images: Images) -> Images:
        """Changed images of the same shape, randomness from torch's current generator."""
        if self.flip:
            images = torch.where(torch.rand(len(images), 1, 1, 1) < 0.5, images.flip(3), images)
        if self.rotate or self.scale:
            images = turned(images, math.radians(self.rotate), self.scale)
        if self.warp:
            images = warped(images, self.warp)
        if self.shift:
            images = shifted(images, self.shift)
        if self.contrast or self.brightness:
            mean = images.mean((1, 2, 3), keepdim=True)
            images = (images - mean) * (1 + _spread(images, self.contrast)) + mean + _spread(images, self.brightness)
        if self.cutout:
            images = cut_out(images, self.cutout)
        if self.blur:
            images = torch.lerp(images, blurred(images, 1.0), _for_half(images) * self.blur)
        if self.noise:
            images = (images + torch.randn_like(images) * _for_half(images) * self.noise).clamp(0, 1)
        return images


def shifted(images: Images, most: int) -> Images:
    """Each image moved by its own whole number of pixels, edge pixels repeated where nothing was."""
    count, channels, height, width = images.shape
    moves = torch.randint(-most, most + 1, (2, count, 1))
    rows = (torch.arange(height) + moves[0]).clamp(0, height - 1)
    columns = (torch.arange(width) + moves[1]).clamp(0, width - 1)
    images = images.gather(2, rows[:, None, :, None].expand(-1, channels, -1, width))
    return images.gather(3, columns[:, None, None, :].expand(-1, channels, height, -1))


def turned(images: Images, most: float, scale: float) -> Images:
    """Each image turned by up to `most` radians and resized by up to `scale` about its centre, edges repeated."""
    angle = (2 * torch.rand(len(images)) - 1) * most
    factor = 1 + (2 * torch.rand(len(images)) - 1) * scale
    cosine, sine, zero = factor * angle.cos(), factor * angle.sin(), torch.zeros(len(images))
    matrices = torch.stack([torch.stack([cosine, -sine, zero], 1), torch.stack([sine, cosine, zero], 1)], 1)
    grid = functional.affine_grid(matrices, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, padding_mode="border", align_corners=False)


def warped(images: Images, most: float, knots: int = 4) -> Images:
    """Each image pulled about by a smooth random field, given at knots x knots points, edges repeated."""
    coarse = (2 * torch.rand(len(images), 2, knots, knots) - 1) * 2 * most
    field = functional.interpolate(coarse, list(images.shape[2:]), mode="bicubic", align_corners=True)
    still = functional.affine_grid(torch.eye(2, 3).expand(len(images), 2, 3), list(images.shape), align_corners=False)
    grid = still + field.permute(0, 2, 3, 1)
    return functional.grid_sample(images, grid, padding_mode="border", align_corners=False)


def cut_out(images: Images, side: int) -> Images:
    """A square of each image, at its own random place, replaced by the image's mean."""
    count, _, height, width = images.shape
    tops, lefts = torch.randint(0, height, (count, 1)), torch.randint(0, width, (count, 1))
    rows = _within(torch.arange(height), tops, side)
    columns = _within(torch.arange(width), lefts, side)
    hidden = rows[:, None, :, None] & columns[:, None, None, :]
    return torch.where(hidden, images.mean((2, 3), keepdim=True), images)


def _within(positions: Tensor, centres: Tensor, side: int) -> Tensor:
    return (positions - centres).abs() * 2 <= side


def _spread(images: Images, most: float) -> Tensor:
    return (2 * torch.rand(len(images), 1, 1, 1) - 1) * most


def _for_half(images: Images) -> Tensor:
    """Between 0 and 1 for every second image, 0 for the others: a plain image must stay something usual."""
    return (2 * torch.rand(len(images), 1, 1, 1) - 1).clamp_min(0)
