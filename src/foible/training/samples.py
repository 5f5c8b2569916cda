"""Made images beside real ones, class for class: what every measurement of a generator starts from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.domains import RealImages
from foible.protocols import Encoder, Generator
from foible.types import Images

BATCH = 100


@dataclass(frozen=True)
class Pairs:
    """Real images, as many made ones, and the classes of both."""

    real: Images
    made: Images
    labels: Tensor


def made_beside_real(generator: Generator, real: RealImages, most: int) -> Iterator[Pairs]:
    """Batches of real images spread over all of them, and made ones of the same classes.

    A generator that encodes gives the reconstructions of the real images, since these are its origins.

    Args:
        generator: makes the images.
        real: where to compare with.
        most: how many images at most.
    """
    rng, total = torch.Generator().manual_seed(0), len(real.labels)
    for index in torch.linspace(0, total - 1, min(most, total)).long().split(BATCH):
        images, labels = real.images(index), real.labels[index]
        latents = generator.encode(images, labels) if isinstance(generator, Encoder) else generator.sample(labels, rng)
        yield Pairs(images, generator.decode(latents, labels), labels)
