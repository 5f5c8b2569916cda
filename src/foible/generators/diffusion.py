"""Class-conditional diffusion: the latent is the noise that DDIM turns into an image, without adding any on the way.

Song et al., "Denoising diffusion implicit models" (2021) with eta = 0; Ho and Salimans, "Classifier-free diffusion
guidance" (2022): velocity = v(no class) + guidance * (v(class) - v(no class)).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.generators.networks.unet import Denoiser, ddim
from foible.generators.stored import stored_space, weights
from foible.types import Images, Latents, LatentSpace

TRAINED_STEPS = 1000


class Diffusion:
    """Generator over a denoising network.

    Args:
        name: what to call it in reports.
        network: the denoiser.
        space: latents the search may visit.
        steps: denoising steps per image; time grows with them.
        guidance: how strongly the class is insisted on; 1 = not more than learnt, and half the time.
    """

    settings = frozenset({"steps", "guidance"})

    def __init__(
        self, name: str, network: Denoiser, space: LatentSpace, steps: int = 10, guidance: float = 2.0
    ) -> None:
        if not 1 <= steps <= TRAINED_STEPS:
            raise RecipeError(f"generator '{name}': steps must be 1 to {TRAINED_STEPS}, got {steps}", "10 is usual")
        self.name, self.steps, self.guidance = name, steps, guidance
        self.network = network.eval().requires_grad_(False)
        self.space = space
        self.scheduler = ddim(TRAINED_STEPS)
        self.scheduler.set_timesteps(steps)

    @classmethod
    def from_weights(
        cls,
        name: str,
        config: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        steps: int | None = None,
        guidance: float | None = None,
    ) -> Diffusion:
        """Rebuild from a model file; settings left out are those it was measured with."""
        network = Denoiser(**config["network"])
        network.load_state_dict(weights(tensors))
        space = stored_space(network.shape, tensors)
        return cls(name, network, space, steps or config["steps"], config["guidance"] if guidance is None else guidance)

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels, height and width of the images."""
        return self.network.shape

    def to(self, device: torch.device) -> None:
        """Move the network to a device; the space stays where searches work, on the CPU."""
        self.network.to(device)

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Normal noise (N, channels, height, width)."""
        return self.space.clamp(torch.randn((len(labels), *self.space.shape), generator=rng))

    def decode(self, latents: Latents, labels: Tensor) -> Images:
        """Images in [0, 1]; every step is a function of the latent and the label."""
        images = latents
        for time in self.scheduler.timesteps:
            velocity = self._velocity(images, time, labels)
            images = self.scheduler.step(velocity, time, images, eta=0.0, return_dict=False)[0]
        return images.clamp(-1, 1).add(1).div(2).contiguous()

    def _velocity(self, images: Images, time: Tensor, labels: Tensor) -> Tensor:
        times = time.to(images.device).expand(len(images))
        if self.guidance == 1.0:
            return self.network(images, times, labels)  # type: ignore[no-any-return]
        classless = torch.full_like(labels, self.network.classes)
        both = self.network(images.repeat(2, 1, 1, 1), times.repeat(2), torch.cat([labels, classless]))
        wanted, free = both.chunk(2)
        velocity: Tensor = free + self.guidance * (wanted - free)
        return velocity
