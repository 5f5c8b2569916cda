"""Tiny autoencoders for photographs, from bare weights: `*encoder.pth` and `*decoder.pth` (TAESD and its successors).

The layout is read off the weights: number of latent channels, and which blocks look at the whole map through a
normalised bottleneck. Images are in [0, 1]; latents have an eighth of the image's height and width.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from foible.errors import ModelError
from foible.types import Images, Latents

GROUPS = 4  # of the normalised bottleneck
RESIDUALS = (1, 3, 3, 3)  # blocks per resolution, from the image's own to an eighth


class TinyAutoencoder(nn.Module):
    """Encoder and decoder rebuilt from their weights."""

    def __init__(self, encoder: Mapping[str, Tensor], decoder: Mapping[str, Tensor]) -> None:
        super().__init__()
        width, latent = encoder["0.weight"].shape[0], decoder["1.weight"].shape[1]
        self.encoder = _filled(_down(width, latent, any("pool" in k for k in encoder)), encoder)
        self.decoder = _filled(_up(width, latent, any("pool" in k for k in decoder)), decoder)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def encode(self, images: Images) -> Latents:
        """Latents (N, latent, height / 8, width / 8)."""
        latents: Latents = self.encoder(images.contiguous(memory_format=torch.channels_last)).contiguous()
        return latents

    def decode(self, latents: Latents) -> Images:
        """Images, nearly in [0, 1]."""
        images: Images = self.decoder(latents.contiguous(memory_format=torch.channels_last)).contiguous()
        return images


def read_tiny_autoencoder(folder: Path) -> TinyAutoencoder:
    """The autoencoder whose two weight files lie in a folder."""
    parts: list[Path] = []
    for part in ("encoder", "decoder"):
        found = sorted(folder.glob(f"*{part}.pth"))
        if len(found) != 1:
            raise ModelError(
                f"'{folder}' has {len(found)} files called *{part}.pth, expected one",
                "put one encoder and one decoder there",
            )
        parts.append(found[0])
    encoder, decoder = ({k: v.float() for k, v in torch.load(path, weights_only=True).items()} for path in parts)
    return TinyAutoencoder(encoder, decoder)


class _Bounded(nn.Module):
    def forward(self, latents: Tensor) -> Tensor:
        return torch.tanh(latents / 3) * 3


class _Block(nn.Module):
    def __init__(self, width: int, pooled: bool) -> None:
        super().__init__()
        self.conv = nn.Sequential(_same(width, width), nn.ReLU(), _same(width, width), nn.ReLU(), _same(width, width))
        self.pool = (
            nn.Sequential(
                nn.Conv2d(width, 4 * width, 1, bias=False),
                nn.GroupNorm(GROUPS, 4 * width),
                nn.ReLU(),
                nn.Conv2d(4 * width, width, 1, bias=False),
            )
            if pooled
            else None
        )

    def forward(self, maps: Tensor) -> Tensor:
        if self.pool is not None:
            maps = maps + self.pool(maps)
        return torch.relu(self.conv(maps) + maps)


def _down(width: int, latent: int, pooled: bool) -> nn.Sequential:
    layers: list[nn.Module] = [_same(3, width)]
    for level, count in enumerate(RESIDUALS):
        if level:
            layers.append(nn.Conv2d(width, width, 3, 2, 1, bias=False))
        layers += [_Block(width, pooled and level == 3) for _ in range(count)]
    return nn.Sequential(*layers, _same(width, latent))


def _up(width: int, latent: int, pooled: bool) -> nn.Sequential:
    layers: list[nn.Module] = [_Bounded(), _same(latent, width), nn.ReLU()]
    for level, count in reversed(list(enumerate(RESIDUALS))):
        layers += [_Block(width, pooled and level == 3) for _ in range(count)]
        if level:
            layers += [nn.Upsample(scale_factor=2), nn.Conv2d(width, width, 3, padding=1, bias=False)]
    return nn.Sequential(*layers, _same(width, 3))


def _same(inputs: int, outputs: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1)


def _filled(network: nn.Sequential, weights: Mapping[str, Tensor]) -> nn.Sequential:
    try:
        network.load_state_dict(dict(weights))
    except RuntimeError as error:
        raise ModelError(f"weights of another layout: {str(error).splitlines()[-1].strip()}") from error
    return network
