"""Variational autoencoder: an encoder gives origins, the decoder is the map from latents to images.

The linear network of SINVAD and GIFTbench: pixels - hidden - 2 x latent, and latent - hidden - pixels with a sigmoid.
The origin of a real image is the encoder's mean, without sampling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from foible.types import Images, Latents, LatentSpace


class LinearVAE(nn.Module):
    """Fully connected VAE for images of `shape` (channels, height, width)."""

    def __init__(self, shape: tuple[int, int, int], hidden: int, latent: int) -> None:
        super().__init__()
        self.shape, self.latent = tuple(shape), latent
        pixels = math.prod(shape)
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels), nn.Sigmoid())

    def posterior(self, images: Images) -> tuple[Tensor, Tensor]:
        """Mean and log-variance (N, latent) of the latents that may have made these images."""
        mean, log_variance = self.encoder(images).chunk(2, dim=1)
        return mean, log_variance

    def forward(self, latents: Latents) -> Images:
        """Images in [0, 1] for latents (N, latent)."""
        images: Images = self.decoder(latents).view(-1, *self.shape)
        return images


class VAE:
    """Generator over a VAE network and the latent space measured on its training images."""

    def __init__(self, name: str, network: LinearVAE, space: LatentSpace) -> None:
        self.name = name
        self.network = network.eval().requires_grad_(False)
        self.space = space

    @classmethod
    def from_weights(cls, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> VAE:
        """Rebuild from a model file: network weights and the tensors `space.low`, `space.high`, `space.step`."""
        network = LinearVAE(**config)
        network.load_state_dict({k: v for k, v in tensors.items() if not k.startswith("space.")})
        space = LatentSpace((network.latent,), tensors["space.low"], tensors["space.high"], tensors["space.step"])
        return cls(name, network, space)

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
