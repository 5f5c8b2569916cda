"""The networks of variational autoencoders: fully connected, convolutional, and convolutional with a latent picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from foible.errors import RecipeError, did_you_mean
from foible.types import Images, Latents


class LinearVAE(nn.Module):
    """The fully connected VAE of SINVAD and GIFTbench: pixels - hidden - 2 x latent, and the same way back."""

    def __init__(self, shape: tuple[int, int, int], hidden: int = 1600, latent: int = 400) -> None:
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


class ConvolutionalVAE(nn.Module):
    """Strided convolutions to a small map, one linear layer to the latents, and the mirror image of both.

    Height and width must be divisible by 2 to the number of `widths`.

    Args:
        shape: channels, height, width of the images.
        widths: maps after each halving of the image.
        latent: number of latent coordinates.
    """

    def __init__(self, shape: tuple[int, int, int], widths: tuple[int, ...] = (32, 64), latent: int = 128) -> None:
        super().__init__()
        self.shape, self.latent = tuple(shape), latent
        channels, height, width = shape
        halvings = 2 ** len(widths)
        self.map = (widths[-1], height // halvings, width // halvings)
        inner = math.prod(self.map)
        self.encoder = nn.Sequential(*_down(channels, widths), nn.Flatten(), nn.Linear(inner, 2 * latent))
        self.entry = nn.Sequential(nn.Linear(latent, inner), nn.ReLU())
        self.decoder = nn.Sequential(*_up(widths, channels))
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def posterior(self, images: Images) -> tuple[Tensor, Tensor]:
        """Mean and log-variance (N, latent) of the latents that may have made these images."""
        mean, log_variance = self.encoder(images.contiguous(memory_format=torch.channels_last)).chunk(2, dim=1)
        return mean, log_variance.clamp(-12, 4)

    def forward(self, latents: Latents) -> Images:
        """Images in [0, 1] for latents (N, latent)."""
        maps = self.entry(latents).view(-1, *self.map).contiguous(memory_format=torch.channels_last)
        images: Images = self.decoder(maps).contiguous()
        return images


class SpatialVAE(nn.Module):
    """Convolutions only: the latent of an image is a small picture of it, which keeps what is where.

    Height and width must be divisible by 2 to the number of `widths`.

    Args:
        shape: channels, height, width of the images.
        widths: maps after each halving of the image.
        latent: maps of the latent picture.
    """

    def __init__(self, shape: tuple[int, int, int], widths: tuple[int, ...] = (32, 64), latent: int = 8) -> None:
        super().__init__()
        self.shape, self.latent, self.widths = tuple(shape), latent, tuple(widths)
        self.picture = (latent, shape[1] // 2 ** len(widths), shape[2] // 2 ** len(widths))
        self.encoder = nn.Sequential(*_down(shape[0], widths), nn.Conv2d(widths[-1], 2 * latent, 3, padding=1))
        entry = _layers(nn.Conv2d(latent, widths[-1], 3, padding=1), widths[-1])
        self.decoder = nn.Sequential(*entry, *_up(widths, shape[0]))
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def posterior(self, images: Images) -> tuple[Tensor, Tensor]:
        """Mean and log-variance (N, latent, height, width) of the latents that may have made these images."""
        mean, log_variance = self.encoder(images.contiguous(memory_format=torch.channels_last)).chunk(2, dim=1)
        return mean.contiguous(), log_variance.clamp(-12, 4)

    def forward(self, latents: Latents) -> Images:
        """Images in [0, 1] for latents (N, latent, height, width)."""
        images: Images = self.decoder(latents.contiguous(memory_format=torch.channels_last)).contiguous()
        return images


VAENetwork: TypeAlias = LinearVAE | ConvolutionalVAE | SpatialVAE


def vae_network(config: Mapping[str, Any]) -> VAENetwork:
    """The network a model file or recipe describes; `network` says which, linear where nothing is said."""
    kind = config.get("network", "linear")
    kinds: dict[str, type[VAENetwork]] = {
        "linear": LinearVAE,
        "convolutional": ConvolutionalVAE,
        "spatial": SpatialVAE,
    }
    if kind not in kinds:
        raise RecipeError(f"no VAE network is called '{kind}'", did_you_mean(kind, kinds))
    network: VAENetwork = kinds[kind](**{k: v for k, v in config.items() if k != "network"})
    return network


def _down(channels: int, widths: Sequence[int]) -> list[nn.Module]:
    return [layer for a, b in pairwise([channels, *widths]) for layer in _layers(nn.Conv2d(a, b, 4, 2, 1), b)]


def _up(widths: Sequence[int], channels: int) -> list[nn.Module]:
    wider = pairwise([*widths[::-1], widths[0]])
    doublings = [layer for a, b in wider for layer in _layers(nn.ConvTranspose2d(a, b, 4, 2, 1), b)]
    return [*doublings, nn.Conv2d(widths[0], channels, 3, padding=1), nn.Sigmoid()]


def _layers(convolution: nn.Module, width: int) -> list[nn.Module]:
    return [convolution, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
