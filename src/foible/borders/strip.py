"""Interpolation strips: what lies between two images, through a latent space and through pixels, one row above the other.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024): latent row, the images of (1 - a) z_A + a z_B; pixel row, (1 - a) x_A + a x_B; six
frames, a = 0, 0.2, ... 1. Differs from the published pictures in: the pixel row blends the images themselves and not their
reconstructions, and every frame says what the classifier takes it for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from foible.domains import Domain, RealImages
from foible.errors import DataError, RecipeError
from foible.faces import Encoder
from foible.images import read_pixels, to_images
from foible.protocols import Classifier, Generator
from foible.types import Images


@dataclass(frozen=True)
class Row:
    """Images from one end to the other (steps, C, H, W), what each is taken for (steps,), and how surely (steps,)."""

    images: Images
    predicted: Tensor
    confidence: Tensor

    @property
    def changes(self) -> int:
        """How often the classifier changes its mind on the way."""
        return int((self.predicted[1:] != self.predicted[:-1]).sum())


@dataclass(frozen=True)
class Strip:
    """The two rows, and how far along each frame is, from 0 to 1."""

    shares: tuple[float, ...]
    latent: Row
    pixels: Row


@torch.inference_mode()
def strip(
    generator: Generator, classifier: Classifier, ends: Images, labels: Tensor | None = None, steps: int = 6
) -> Strip:
    """What lies between two images (2, C, H, W).

    Args:
        generator: one with an encoder.
        classifier: asked about every frame.
        ends: the two images.
        labels: their classes (2,), which a conditional generator needs; left out: what the classifier says.
        steps: frames of a row, both ends included.
    """
    if not isinstance(generator, Encoder):
        raise RecipeError(
            f"generator '{generator.name}' cannot start from real images: it has no encoder",
            "name a VAE or an autoencoder with --generator",
        )
    if steps < 2:
        raise RecipeError(f"a strip of {steps} frames has no two ends", "at least 2")
    known = classifier(ends).argmax(1) if labels is None else labels
    shares = torch.linspace(0, 1, steps)
    first, second = generator.encode(ends, known)
    along = torch.stack([torch.lerp(first, second, a) for a in shares])
    made = generator.decode(along, torch.where(shares < 0.5, known[0], known[1]))
    blend = torch.stack([torch.lerp(ends[0], ends[1], a) for a in shares])
    rows = [_asked(classifier, images) for images in (made, blend)]
    return Strip(tuple(shares.tolist()), *rows)


def _asked(classifier: Classifier, images: Images) -> Row:
    confidence, predicted = classifier(images).double().softmax(1).max(1)
    return Row(images, predicted, confidence)


def image_by_name(name: str, domain: Domain, data: RealImages) -> Images:
    """An image (C, H, W) by file, or by class and number: "4:0" is the first real image of class 4."""
    path = Path(name)
    if path.is_file():
        return to_images(read_pixels(path, domain.shape, domain.resize)[None])[0]
    return real_image(name, domain, data)


def real_image(name: str, domain: Domain, data: RealImages) -> Images:
    """A real image (C, H, W) by class and number alone: no file is looked for."""
    text, colon, number = name.rpartition(":")
    if not colon or not number.isdigit():
        raise DataError(
            f"there is no image '{name}'", f"name a file, or a class and a number such as {domain.classes[0]}:0"
        )
    rows = (data.labels == domain.class_index(text)).nonzero()[:, 0]
    if int(number) >= len(rows):
        raise DataError(f"{data.source} has {len(rows)} images of class '{text}', not {int(number) + 1}")
    return data.images(rows[[int(number)]])[0]


def sheet(found: Strip) -> Images:
    """Both rows as one picture (C, H, W), a white line around every frame."""

    def line(images: Sequence[Images]) -> Images:
        return torch.cat([torch.nn.functional.pad(image, (1, 1, 1, 1), value=1.0) for image in images], 2)

    return torch.cat([line(list(found.latent.images)), line(list(found.pixels.images))], 1)
