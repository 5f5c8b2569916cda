"""`foible.judge`: images in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foible.domains import Domain, load_domain
from foible.errors import DataError
from foible.types import Images
from foible.validators.judge import Judge, Judgement


def judge(
    images: Any, labels: Sequence[int | str] | Tensor | None = None, domain: str | Path | Domain = "mnist"
) -> Judgement:
    """Is each image valid, and does it keep its label?

    Args:
        images: a tensor or array (N, C, H, W) or (C, H, W) or, for grey images, (N, H, W): floats in [0, 1] or 8-bit pixels.
        labels: the expected classes, by number or name; without them, the likeliest class of each image is taken.
        domain: what the images are meant to be of: a name, a domain file, or a Domain.
    """
    chosen = domain if isinstance(domain, Domain) else load_domain(domain)
    pixels = as_images(images, chosen.shape)
    expected = None if labels is None else _expected(labels, chosen)
    if expected is not None and len(expected) != len(pixels):
        raise DataError(f"{len(pixels)} images but {len(expected)} labels", "give one label per image")
    return Judge(chosen).judgement(pixels, expected)


def as_images(values: Any, shape: tuple[int, int, int]) -> Images:
    """Anything array-like as images (N, C, H, W) of exactly this shape, in [0, 1]."""
    array = torch.as_tensor(values)
    images = array.float() / 255 if array.dtype == torch.uint8 else array.float()
    channels, height, width = shape
    if images.shape[-3:] == (height, width, channels) and images.shape[-3:] != shape:
        images = images.movedim(-1, -3)
    if channels == 1 and images.shape[-2:] == (height, width) and images.shape[-3:] != shape:
        images = images.unsqueeze(-3)
    if images.dim() == 3:
        images = images[None]
    if images.dim() != 4 or tuple(images.shape[1:]) != tuple(shape):
        raise DataError(
            f"images have shape {tuple(array.shape)}, the domain wants (N, {channels}, {height}, {width})",
            "resize them, or pick the domain they are of",
        )
    if not bool(torch.isfinite(images).all()):
        raise DataError("images hold NaN or infinite values", "look for a division by zero where they were made")
    low, high = (float(images.min()), float(images.max())) if len(images) else (0.0, 0.0)
    if low < -1e-3 or high > 1 + 1e-3:
        raise DataError(
            f"values run from {low:.3g} to {high:.3g}, images are floats in [0, 1] or 8-bit pixels",
            "scale them: divide by 255, or map [-1, 1] to [0, 1]",
        )
    return images.clamp(0, 1)


def _expected(labels: Sequence[int | str] | Tensor, domain: Domain) -> Tensor:
    given = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    return torch.tensor([domain.class_index(str(label)) for label in given], dtype=torch.long)
