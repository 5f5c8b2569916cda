"""Images of a generator in the place of real ones, where there are none and none are needed to start from."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from foible.protocols import Generator
from foible.types import Images

COUNT = 200


class MadeImages:
    """Images made for each class in turn; not real, and said not to be.

    Args:
        maker: the generator.
        classes: how many there are.
    """

    def __init__(self, maker: Generator, classes: int) -> None:
        self.source = f"images made by '{maker.name}' in place of real ones, which were not found"
        self.labels = torch.arange(max(COUNT, classes)) % classes
        self._maker = maker

    @cached_property
    def _all(self) -> Images:
        rng = torch.Generator().manual_seed(0)
        with torch.inference_mode():
            latents = self._maker.sample(self.labels, rng)
            return self._maker.decode(latents, self.labels).cpu().clamp(0, 1)

    def images(self, index: Tensor) -> Images:
        """The images at these positions, float32 NCHW in [0, 1]."""
        return self._all[index].clone()
