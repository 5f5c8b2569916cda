"""Class-conditional diffusion: the latent is the noise that DDIM turns into an image, without adding any on the way.

Song et al., "Denoising diffusion implicit models" (2021) with eta = 0; Ho and Salimans, "Classifier-free diffusion
guidance" (2022): velocity = v(no class) + guidance * (v(class) - v(no class)).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.generators.denoising import denoised, noised
from foible.generators.networks.unet import Denoiser, ddim
from foible.generators.stored import StoredGenerator
from foible.types import Images, Latents, LatentSpace

TRAINED_STEPS = 1000


class Diffusion(StoredGenerator):
    """Generator over a denoising network.

    Args:
        name: what to call it in reports.
        network: the denoiser.
        space: latents the search may visit.
        steps: denoising steps per image; time grows with them.
        guidance: how strongly the class is insisted on; 1 = not more than learnt, and half the time.
    """

    prefers = "sampled"
    settings = frozenset({"steps", "guidance"})
    network: Denoiser

    def __init__(
        self, name: str, network: Denoiser, space: LatentSpace, steps: int = 10, guidance: float = 2.0
    ) -> None:
        if not 1 <= steps <= TRAINED_STEPS:
            raise RecipeError(f"generator '{name}': steps must be 1 to {TRAINED_STEPS}, got {steps}", "10 is usual")
        super().__init__(name, network, space)
        self.steps, self.guidance = steps, guidance
        self.scheduler = ddim(TRAINED_STEPS, network.reach)
        self.scheduler.set_timesteps(steps)

    @staticmethod
    def build(config: Mapping[str, Any]) -> Denoiser:
        """The denoiser."""
        return Denoiser(**config["network"])

    @classmethod
    def from_weights(cls, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor], **settings: Any) -> Self:
        """Rebuild from a model file; settings left out are those it was measured with."""
        measured = {"steps": config["steps"], "guidance": config["guidance"]}
        return super().from_weights(name, config, tensors, **(measured | settings))

    def decode(self, latents: Latents, labels: Tensor) -> Images:
        """Images in [0, 1]; every step is a function of the latent and the label."""
        return self.network.shown(denoised(self.scheduler, partial(self._velocity, labels), latents))

    def encode(self, images: Images, labels: Tensor) -> Latents:
        """The noise of which these images are made, nearly: the steps of `decode` solved backwards, with its settings."""
        pictures, bound = self.network.pictured(images), float(self.space.high.max())
        return self.space.clamp(noised(self.scheduler, partial(self._velocity, labels), pictures, bound))

    def _velocity(self, labels: Tensor, pictures: Tensor, time: Tensor) -> Tensor:
        times = time.to(pictures.device).expand(len(pictures))
        if self.guidance == 1.0:
            return self.network(pictures, times, labels)  # type: ignore[no-any-return]
        classless = torch.full_like(labels, self.network.classes)
        both = self.network(pictures.repeat(2, 1, 1, 1), times.repeat(2), torch.cat([labels, classless]))
        wanted, free = both.chunk(2)
        velocity: Tensor = free + self.guidance * (wanted - free)
        return velocity
