"""Conditional GAN: latents are normal numbers, the class is asked for; the discriminator stays with the generator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from foible.generators.networks.gan import ConditionalGAN
from foible.generators.networks.teacher import Teacher
from foible.generators.stored import StoredGenerator
from foible.types import Images, Latents, LatentSpace


class GAN(StoredGenerator):
    """Generator over a conditional GAN.

    Args:
        name: what to call it in reports.
        network: generator and discriminator.
        space: latents the search may visit.
        truncation: sampled coordinates stay within this many standard deviations; fewer = more typical images.
    """

    settings = frozenset({"truncation"})
    network: ConditionalGAN

    def __init__(self, name: str, network: ConditionalGAN, space: LatentSpace, truncation: float | None = None) -> None:
        super().__init__(name, network, space)
        self.truncation = truncation

    @staticmethod
    def build(config: Mapping[str, Any]) -> ConditionalGAN:
        """Generator and discriminator, with the teacher of the latter."""
        taught = Teacher(**config["teacher"]) if config.get("teacher") else None
        network = {k: v for k, v in config.items() if k != "truncation"}
        return ConditionalGAN(**{**network, "teacher": taught})

    @classmethod
    def from_weights(cls, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor], **settings: Any) -> Self:
        """Rebuild from a model file; a truncation left out is the one it was measured with."""
        measured = {"truncation": config.get("truncation")}
        return super().from_weights(name, config, tensors, **(measured | settings))

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Normal latents, truncated where asked; the class is not in the latent."""
        if self.truncation is None:
            return super().sample(labels, rng)
        uniform = torch.rand((len(labels), *self.space.shape), generator=rng)
        return self.space.clamp(truncated_normal(uniform, self.truncation))

    def decode(self, latents: Latents, labels: Tensor) -> Images:
        """Images in [0, 1]: the network's tanh output, mapped."""
        images: Images = self.network.generator(latents, labels)
        return images.add(1).div(2).contiguous()

    def realness(self, images: Images, labels: Tensor) -> Tensor:
        """The discriminator's score (N,) for images in [0, 1] as pictures of these classes; higher looks more real."""
        score: Tensor = self.network.discriminator(images * 2 - 1, labels)[0].sum(1)
        return score


def truncated_normal(uniform: Tensor, limit: float) -> Tensor:
    """Uniform numbers in [0, 1) as normal numbers that never leave [-limit, limit]."""
    mass = math.erf(limit / math.sqrt(2))
    return (math.sqrt(2) * torch.erfinv((2 * uniform - 1) * mass)).clamp(-limit, limit)
