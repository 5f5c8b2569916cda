"""Made images beside real ones, class for class: what every measurement of a generator starts from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.domains import RealImages
from foible.faces import Encoder, prefers_real
from foible.protocols import Generator
from foible.types import Images

BATCH = 100


@dataclass(frozen=True)
class Pairs:
    """Real images, as many made ones, and the classes of both."""

    real: Images
    made: Images
    labels: Tensor


def made_beside_real(
    generator: Generator, real: RealImages, most: int, reconstruct: bool | None = None, seed: int = 0
) -> Iterator[Pairs]:
    """Batches of real images spread over all of them, and made ones of the same classes.

    A generator that starts from real images gives their reconstructions, since these are its origins.

    Args:
        generator: makes the images.
        real: where to compare with.
        most: how many images at most.
        reconstruct: reconstructions or samples; None = whatever the generator starts from.
        seed: of the samples; the figures of cards are of seed 0, choices are made on others.
    """
    rng, total = torch.Generator().manual_seed(seed), len(real.labels)
    for index in torch.linspace(0, total - 1, min(most, total)).long().split(BATCH):
        images, labels = real.images(index), real.labels[index]
        again = prefers_real(generator) if reconstruct is None else reconstruct
        encoder = generator if again and isinstance(generator, Encoder) else None
        latents = encoder.encode(images, labels) if encoder else generator.sample(labels, rng)
        yield Pairs(images, generator.decode(latents, labels), labels)
