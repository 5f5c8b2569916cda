"""An image autoencoder for photographs as a latent space, from a local folder.

AutoencoderKL and AutoencoderTiny as diffusers saves them, or the bare encoder and decoder weights of the TAESD line.

Origins are real photographs, encoded; the space is measured on photographs too, since nothing else says what usual
latents are: channel by channel, because any place of a photograph may show anything. Weights are never downloaded.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from foible.domains.folder import SUFFIXES
from foible.errors import DataError, ModelError
from foible.generators.library import import_diffusers
from foible.generators.networks.tiny_autoencoder import TinyAutoencoder, read_tiny_autoencoder
from foible.images import read_pixels, to_images
from foible.types import Images, Latents, LatentSpace

KINDS = ("AutoencoderKL", "AutoencoderTiny")
MEASURED_ON = 16  # photographs looked at for the space: each has hundreds of places

log = logging.getLogger(__name__)


class Autoencoder:
    """Encode photographs, search around them, decode.

    Args:
        folder: where `config.json` and weights are, as diffusers saves them, or `*encoder.pth` and `*decoder.pth`.
        images: a folder with photographs (any depth) on which the latent space is measured.
        shape: channels, height and width of the images; other sizes are resized.
    """

    # Its latents are nearly as free as pixels: what fails by half a logit is a speck that a shift by a pixel undoes.
    advises: ClassVar[Mapping[str, Mapping[str, Any]]] = {"descent": {"keep": 2.0}}

    def __init__(self, folder: str, images: str, shape: tuple[int, int, int] = (3, 256, 256)) -> None:
        self.name, self.shape = Path(folder).name, tuple(shape)
        self.network = load_autoencoder(Path(folder)).eval().requires_grad_(False)
        measured = self._encoded(Path(images))
        step = measured.std((0, 2, 3), correction=0)[:, None, None]
        self.space = LatentSpace(tuple(measured.shape[1:]), measured.min(), measured.max(), step)
        self.mean = measured.mean((0, 2, 3))[:, None, None]

    def to(self, device: torch.device) -> None:
        """Move the network to a device; the space stays where searches work, on the CPU."""
        self.network.to(device)

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Normal latents with the mean and spread of photographs: blurred mixtures, not pictures of a class."""
        noise = torch.randn((len(labels), *self.space.shape), generator=rng)
        return self.space.clamp(self.mean + self.space.step * noise)

    def encode(self, images: Images, labels: Tensor) -> Latents:  # noqa: ARG002
        """The most likely latents of photographs in [0, 1]."""
        latents: Latents = self.network.encode(images)
        return latents

    def decode(self, latents: Latents, labels: Tensor) -> Images:  # noqa: ARG002
        """Images in [0, 1]."""
        images: Images = self.network.decode(latents)
        return images.clamp(0, 1)

    @torch.no_grad()
    def _encoded(self, folder: Path) -> Latents:
        paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES)
        if len(paths) < 2:
            raise DataError(
                f"'{folder}' has {len(paths)} photographs; the latent space of '{self.name}' is measured on at least 2",
                "name a folder with photographs: images = ...",
            )
        chosen = paths[:: max(1, len(paths) // MEASURED_ON)][:MEASURED_ON]
        log.info("measuring the latent space of '%s' on %d photographs", self.name, len(chosen))
        labels = torch.zeros(1, dtype=torch.long)
        return torch.cat(
            [self.encode(to_images(np.stack([read_pixels(p, self.shape, True)])), labels) for p in chosen]  # type: ignore[arg-type]
        )


class DiffusersAutoencoder(nn.Module):
    """An autoencoder of diffusers that takes and gives images in [0, 1]."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def encode(self, images: Images) -> Latents:
        """The most likely latents."""
        encoded = self.inner.encode(images * 2 - 1)
        latents: Latents = encoded.latents if hasattr(encoded, "latents") else encoded.latent_dist.mode()
        return latents

    def decode(self, latents: Latents) -> Images:
        """Images, nearly in [0, 1]."""
        images: Images = self.inner.decode(latents).sample
        return images.add(1).div(2)


def load_autoencoder(folder: Path) -> DiffusersAutoencoder | TinyAutoencoder:
    """The autoencoder in a folder."""
    config = folder / "config.json"
    if not config.is_file() and list(folder.glob("*coder.pth")):
        return read_tiny_autoencoder(folder)
    if not config.is_file():
        raise ModelError(
            f"no autoencoder in '{folder}': there is no config.json and no *encoder.pth",
            f"save one there with diffusers: AutoencoderTiny.from_pretrained(...).save_pretrained({str(folder)!r})",
        )
    kind = json.loads(config.read_text()).get("_class_name")
    if kind not in KINDS:
        raise ModelError(f"'{folder}' holds a {kind}, expected one of {', '.join(KINDS)}", "name its vae folder?")
    try:
        inner = getattr(import_diffusers("an autoencoder"), kind).from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the autoencoder in '{folder}' cannot be loaded: {str(error).splitlines()[0]}",
            "copy the folder again: config.json and diffusion_pytorch_model.safetensors belong together",
        ) from error
    return DiffusersAutoencoder(inner)
