"""Images of other domains, brought to this domain's shape: invalid here, whatever they show."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional

from foible.domains import load_domain, real_images
from foible.types import Images
from foible.validators.usual import some


def foreign_images(names: Sequence[str], shape: tuple[int, int, int], count: int) -> Images:
    """So many images of these domains: of the sample that comes with foible, or of the training images where there is none."""
    parts = []
    for name in names:
        domain = load_domain(name)
        data = real_images(domain, "sample") if domain.sample else real_images(domain, split="train")
        parts.append(fitted_to(data.images(some(data, count // len(names))), shape))
    return torch.cat(parts) if parts else torch.empty(0, *shape)


def fitted_to(images: Images, shape: tuple[int, int, int]) -> Images:
    """Images in the number of channels and size of a domain."""
    channels, height, width = shape
    if images.shape[1] != channels:
        images = images.mean(1, keepdim=True).expand(-1, channels, -1, -1)
    if images.shape[2:] == (height, width):
        return images
    return functional.interpolate(images, (height, width), mode="bilinear", antialias=True).clamp(0, 1)
