"""How many disagreements are left after each filter, one after the other and each alone.

The published filters are the discriminator of a GAN and structural similarity (SSIM, kept from 0.4 on) to the most similar
real image. Both are weak: SSIM accepts a blank image beside a thin stroke, and a discriminator knows only the faults that its
own generator used to make. The judge is the one to trust (docs/judge.md); the counts stand side by side so that it can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.campaign.assemble import make_validator
from foible.campaign.spec import Part
from foible.domains import Domain, RealImages
from foible.protocols import Validator
from foible.records import everyone_accepts
from foible.types import Images

PUBLISHED = ("discriminator", "ssim")


@dataclass(frozen=True)
class Sieved:
    """A filter: how many came to it and how many it let through, and how many of all it would let through by itself."""

    name: str
    before: int
    after: int
    alone: int


def sieve(images: Images, labels: Tensor, filters: Sequence[Validator]) -> list[Sieved]:
    """Filters one after the other; only what they say about the image counts, not about its label."""
    left = torch.ones(len(images), dtype=torch.bool)
    steps = []
    for one in filters:
        said = one(images, labels) if len(images) else []
        passes = torch.tensor([everyone_accepts(words, "image") for words in said], dtype=torch.bool)
        before, left = int(left.sum()), left & passes
        steps.append(Sieved(one.name, before, int(left.sum()), int(passes.sum())))
    return steps


def filters(names: Sequence[str], domain: Domain, data: RealImages) -> list[Validator]:
    """The filters by name, such as discriminator, ssim and judge."""
    return [make_validator(Part(use=name), domain, data) for name in names]
