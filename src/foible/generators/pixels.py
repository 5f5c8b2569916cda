"""Pixels: no generator at all, the latents are the images themselves.

With it, `descent` is the ordinary attack on pixels (projected gradient descent), and what a learned latent space adds can be
measured: same origins, same search, same judge.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from foible.types import Images, Latents, LatentSpace

STEP = 0.1  # of the range: nothing is measured, since every pixel may be anything


class Pixels:
    """Images as their own latents; a search may change every pixel by itself.

    Args:
        shape: channels, height and width of the domain's images.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self.name, self.shape = "pixels", tuple(int(n) for n in shape)
        self.space = LatentSpace(self.shape, torch.tensor(0.0), torch.tensor(1.0), torch.full(self.shape, STEP))

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Grey noise, which is no picture of anything: origins are real images."""
        return torch.rand((len(labels), *self.shape), generator=rng)

    def encode(self, images: Images, labels: Tensor) -> Latents:  # noqa: ARG002
        """The images as they are."""
        return images

    def decode(self, latents: Latents, labels: Tensor) -> Images:  # noqa: ARG002
        """Images in [0, 1]."""
        return latents.clamp(0, 1)
