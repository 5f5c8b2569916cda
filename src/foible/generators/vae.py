"""Variational autoencoder: an encoder gives origins, the decoder is the map from latents to images.

The origin of a real image is the encoder's mean, without sampling.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from foible.generators.networks.vae import VAENetwork, vae_network
from foible.generators.stored import StoredGenerator
from foible.types import Images, Latents


class VAE(StoredGenerator):
    """Generator over a VAE network and the latent space measured on its training images.

    A VAE has no notion of class: a sample comes from the prior, whatever the label.
    """

    network: VAENetwork

    @staticmethod
    def build(config: Mapping[str, Any]) -> VAENetwork:
        """A linear, a convolutional or a spatial VAE."""
        return vae_network(config)

    def encode(self, images: Images, labels: Tensor) -> Latents:  # noqa: ARG002
        """The posterior mean of each image."""
        return self.network.posterior(images)[0]

    def decode(self, latents: Latents, labels: Tensor) -> Images:  # noqa: ARG002
        """Images in [0, 1]."""
        images: Images = self.network(latents)
        return images
