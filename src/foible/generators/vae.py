"""Variational autoencoder: an encoder gives origins, the decoder is the map from latents to images.

The origin of a real image is the encoder's mean, without sampling.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from foible.generators.networks.vae import VAENetwork, vae_network
from foible.generators.stored import stored_space, weights
from foible.types import Images, Latents, LatentSpace


class VAE:
    """Generator over a VAE network and the latent space measured on its training images."""

    def __init__(self, name: str, network: VAENetwork, space: LatentSpace) -> None:
        self.name = name
        self.network = network.eval().requires_grad_(False)
        self.space = space

    @classmethod
    def from_weights(cls, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> VAE:
        """Rebuild from a model file."""
        network = vae_network(config)
        network.load_state_dict(weights(tensors))
        return cls(name, network, stored_space((network.latent,), tensors))

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels, height and width of the images."""
        return self.network.shape

    def to(self, device: torch.device) -> None:
        """Move the network to a device; the space stays where searches work, on the CPU."""
        self.network.to(device)

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Latents from the prior; a VAE has no notion of class, so labels only give the count."""
        return self.space.clamp(torch.randn((len(labels), *self.space.shape), generator=rng))

    def encode(self, images: Images, labels: Tensor) -> Latents:  # noqa: ARG002
        """The posterior mean of each image."""
        return self.network.posterior(images)[0]

    def decode(self, latents: Latents, labels: Tensor) -> Images:  # noqa: ARG002
        """Images in [0, 1]."""
        images: Images = self.network(latents)
        return images
