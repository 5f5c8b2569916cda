"""Pixel space: the latent of an image is the image itself, so that searches of pixels are searches like any other.

How far a search may go from its origin is the search's affair (`radius`); here only [0, 1] bounds it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.types import Images, Latents, LatentSpace

STEP = 12**-0.5  # how much a pixel varies if every grey is as likely as any other


class Pixels:
    """Images as they are: nothing is generated, and what is found may look like no real image at all.

    Args:
        shape: channels, height and width of the images; in a recipe those of the domain.
    """

    name = "pixels"

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = tuple(shape)
        if len(self.shape) != 3 or min(self.shape) < 1:
            raise RecipeError(f"generator pixels: shape {list(shape)} is no channels, height and width")
        self.space = LatentSpace(self.shape, torch.tensor(0.0), torch.tensor(1.0), torch.tensor(STEP))

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Noise, whatever the label: pixel space has no images of its own to start from."""
        return torch.rand((len(labels), *self.shape), generator=rng)

    def encode(self, images: Images, labels: Tensor) -> Latents:  # noqa: ARG002
        """The images themselves."""
        return images.clone()

    def decode(self, latents: Latents, labels: Tensor) -> Images:  # noqa: ARG002
        """The latents themselves, in [0, 1]."""
        return latents.clamp(0, 1)
