"""Real images in memory or on disk, handed out as foible's image currency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from foible.images import to_images
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
