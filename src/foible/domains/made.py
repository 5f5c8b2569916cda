"""Images of a generator in the place of real ones, where there are none and none are needed to start from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from foible.types import Images

COUNT = 200


class MadeImages:
    """Images made for each class in turn; not real, and said not to be.

    Args:
        maker: the generator's name.
        make: from labels (N,) and a source of randomness to images.
        classes: how many there are.
    """

    def __init__(self, maker: str, make: Callable[[Tensor, torch.Generator], Images], classes: int) -> None:
        self.source = f"images made by '{maker}' in place of real ones, which were not found"
        self.labels = torch.arange(max(COUNT, classes)) % classes
        self._make = make

    @cached_property
    def _all(self) -> Images:
        with torch.inference_mode():
            return self._make(self.labels, torch.Generator().manual_seed(0)).cpu().clamp(0, 1)

    def images(self, index: Tensor) -> Images:
        """The images at these positions, float32 NCHW in [0, 1]."""
        return self._all[index].clone()
