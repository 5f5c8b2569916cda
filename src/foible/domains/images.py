"""Real images in memory or on disk, handed out as foible's image currency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.types import Images


class RealImages(Protocol):
    """Labelled real images: labels for all, pixels for those asked for."""

    @property
    def source(self) -> str:
        """Where they come from, for people."""
        ...

    @property
    def labels(self) -> Tensor:
        """Class numbers (N,)."""
        ...

    def images(self, index: Tensor) -> Images:
        """The images at these positions, float32 NCHW in [0, 1]."""
        ...


@dataclass(frozen=True)
class ImageArray:
    """Real images held as one uint8 array (N, C, H, W)."""

    source: str
    pixels: NDArray[np.uint8]
    labels: Tensor

    def images(self, index: Tensor) -> Images:
        """The images at these positions, float32 NCHW in [0, 1]."""
        return to_images(self.pixels[index.numpy()])


def to_images(pixels: NDArray[np.uint8]) -> Images:
    """8-bit pixels (N, C, H, W) as floats in [0, 1]."""
    return torch.from_numpy(pixels.astype(np.float32)).div_(255)


def to_bytes(images: Images) -> NDArray[np.uint8]:
    """Images rounded to the 8-bit pixels (N, C, H, W) that a file holds."""
    array: NDArray[np.uint8] = images.detach().mul(255).round_().clamp_(0, 255).to(torch.uint8).cpu().numpy()
    return array


def rounded(images: Images) -> Images:
    """Images as they will be when read back from an 8-bit file."""
    return images.mul(255).round_().clamp_(0, 255).div_(255)
