"""The fifteen mutations of DRFuzz: geometry, light, blur, shape of strokes, patches and noise, as published.

You, Wang, Chen, Liu, Li, "Regression fuzzing for deep learning systems" (ICSE 2023). Parameters are drawn evenly from the ranges in
the table; images are (C, H, W) in [0, 1], and lengths of the original on the 0 to 255 scale are divided by 255.

| mutation | parameter | mutation | parameter |
| --- | --- | --- | --- |
| translate | -3 to 2 pixels each way | erode, dilate | kernels 1x1 to 3x3 |
| scale | 0.7 to 1.2 | reverse, whiten, blacken | a patch of 2x2 |
| shear | -0.6 to 0.6 | gaussian noise | variance .001 to 2 on the 0 to 255 scale |
| rotate | -50 to 50 degrees | multiplicative noise | variance .001 to 1 |
| contrast | gain 0.5 to 1.5 | salt and pepper | 0.4 % of the pixels |
| brightness | -20 to 20 of 255 | blur | box 3 to 5, Gaussian 3 to 7, median 3 or 5, bilateral |

Differs from the original in: all colour channels are treated alike (a one-element gain used to blacken two of three); noise does
not wrap around at black and white; sampling is bilinear for every geometric mutation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample, max_pool2d, pad, unfold

Rng = torch.Generator
KERNELS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (3, 3))
GAUSSIAN = (2, 1, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001)
SPECKLE = (1, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001)
BLURS = ("box3", "box4", "box5", "gauss3", "gauss5", "gauss7", "median3", "median5", "bilateral")
SALTED = 0.004
BILATERAL = (6, 50 / 255, 50.0)  # diameter, spread of values, spread of places


def between(low: float, high: float, rng: Rng) -> float:
    """An even draw."""
    return low + (high - low) * float(torch.rand((), generator=rng))


def one_of(count: int, rng: Rng) -> int:
    """An even draw of a position."""
    return int(torch.randint(count, (), generator=rng))


def moved(image: Tensor, matrix: tuple[float, ...]) -> Tensor:
    """The image under an affine map of its places, -1 to 1 from edge to edge; black comes in from outside."""
    grid = affine_grid(torch.tensor(matrix).view(1, 2, 3), [1, *image.shape], align_corners=False)
    return grid_sample(image[None], grid, align_corners=False)[0]


def translate(image: Tensor, rng: Rng) -> Tensor:
    """Whole pixels."""
    across, down = (one_of(6, rng) - 3 for _ in range(2))
    return moved(image, (1, 0, -2 * across / image.shape[2], 0, 1, -2 * down / image.shape[1]))


def scale(image: Tensor, rng: Rng) -> Tensor:
    """About the middle."""
    by = 1 / between(0.7, 1.2, rng)
    return moved(image, (by, 0, 0, 0, by, 0))


def shear(image: Tensor, rng: Rng) -> Tensor:
    """Rows against each other."""
    return moved(image, (1, between(-0.6, 0.6, rng), 0, 0, 1, 0))


def rotate(image: Tensor, rng: Rng) -> Tensor:
    """About the middle."""
    angle = math.radians(between(-50, 50, rng))
    return moved(image, (math.cos(angle), -math.sin(angle), 0, math.sin(angle), math.cos(angle), 0))


def contrast(image: Tensor, rng: Rng) -> Tensor:
    """A gain for all pixels."""
    return image * between(0.5, 1.5, rng)


def brightness(image: Tensor, rng: Rng) -> Tensor:
    """The same added to all pixels."""
    return image + between(-20, 20, rng) / 255


def blur(image: Tensor, rng: Rng) -> Tensor:
    """One of nine blurs."""
    kind = BLURS[one_of(len(BLURS), rng)]
    if kind == "bilateral":
        return _bilateral(image)
    size = int(kind[-1])
    windows = _windows(image, size)  # (C, size^2, H, W)
    if kind.startswith("median"):
        return windows.median(1).values
    if kind.startswith("box"):
        return windows.mean(1)
    return (windows * _bell(size, 0.3 * ((size - 1) / 2 - 1) + 0.8).view(1, -1, 1, 1)).sum(1)


def erode(image: Tensor, rng: Rng) -> Tensor:
    """The darkest pixel around."""
    return -_brightest(-image, rng)


def dilate(image: Tensor, rng: Rng) -> Tensor:
    """The brightest pixel around."""
    return _brightest(image, rng)


def reverse(image: Tensor, rng: Rng) -> Tensor:
    """Black for white in a patch."""
    return _patched(image, rng, lambda patch: 1 - patch)


def whiten(image: Tensor, rng: Rng) -> Tensor:
    """A white patch."""
    return _patched(image, rng, torch.ones_like)


def blacken(image: Tensor, rng: Rng) -> Tensor:
    """A black patch."""
    return _patched(image, rng, torch.zeros_like)


def noise(image: Tensor, rng: Rng) -> Tensor:
    """Added to every pixel by itself; at most one and a half of 255 grey levels strong."""
    spread = math.sqrt(GAUSSIAN[one_of(len(GAUSSIAN), rng)]) / 255
    return image + spread * torch.randn(image.shape, generator=rng)


def speckle(image: Tensor, rng: Rng) -> Tensor:
    """Every pixel by a factor of its own."""
    spread = math.sqrt(SPECKLE[one_of(len(SPECKLE), rng)])
    return image * (1 + spread * torch.randn(image.shape, generator=rng))


def salt(image: Tensor, rng: Rng) -> Tensor:
    """Some pixels white, as many black."""
    dice = torch.rand(image.shape[1:], generator=rng)
    return image.masked_fill(dice < SALTED / 2, 1).masked_fill(dice > 1 - SALTED / 2, 0)


MUTATIONS: tuple[Callable[[Tensor, Rng], Tensor], ...] = (
    translate,
    scale,
    shear,
    rotate,
    contrast,
    brightness,
    blur,
    erode,
    dilate,
    reverse,
    whiten,
    blacken,
    noise,
    speckle,
    salt,
)


def _windows(image: Tensor, size: int) -> Tensor:
    """The square around every pixel (C, size^2, H, W); the edge is repeated outside."""
    before, after = (size - 1) // 2, size // 2
    wide = pad(image[None], (before, after, before, after), mode="replicate")
    return unfold(wide, size).view(image.shape[0], size * size, *image.shape[1:])


def _bell(size: int, spread: float) -> Tensor:
    """Weights of a square window that fall off from its middle (size^2,), together 1."""
    places = torch.arange(size) - (size - 1) / 2
    falling = (-places.square() / (2 * spread**2)).exp()
    weights = falling[:, None] * falling
    return (weights / weights.sum()).flatten()


def _bilateral(image: Tensor) -> Tensor:
    diameter, values, places = BILATERAL
    size = diameter + 1
    windows = _windows(image, size)
    alike = (-(windows - image[:, None]).square() / (2 * values**2)).exp()
    weights = alike * _bell(size, places).view(1, -1, 1, 1)
    return (windows * weights).sum(1) / weights.sum(1)


def _brightest(image: Tensor, rng: Rng) -> Tensor:
    high, wide = KERNELS[one_of(len(KERNELS), rng)]
    sides = ((wide - 1) // 2, wide // 2, (high - 1) // 2, high // 2)
    return max_pool2d(pad(image[None], sides, value=-math.inf), (high, wide), stride=1)[0]


def _patched(image: Tensor, rng: Rng, change: Callable[[Tensor], Tensor]) -> Tensor:
    row, column = (one_of(max(1, length - 1), rng) for length in image.shape[1:])
    changed = image.clone()
    patch = (slice(None), slice(row, row + 2), slice(column, column + 2))
    changed[patch] = change(image[patch])
    return changed
