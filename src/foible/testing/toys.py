"""Toy models: three bars of grey, and a classifier that names the brightest. Everything can be checked with a pencil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from foible.records import Verdict
from foible.types import Capability, Images, Latents, LatentSpace

CLASSES = ("left", "middle", "right")
SHAPE = (1, 6, 6)


class ToyGenerator:
    """Three numbers are the brightness of three vertical bars, through a sigmoid.

    Args:
        latent_shape: any shape with three elements or more; the first three count.
    """

    def __init__(self, latent_shape: tuple[int, ...] = (3,)) -> None:
        self.name = "toy-generator"
        self.space = LatentSpace(tuple(latent_shape), torch.tensor(-4.0), torch.tensor(4.0), torch.ones(latent_shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels, height and width."""
        return SHAPE

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Random bars, the one that the label names 2 brighter."""
        latents = 0.5 * torch.randn((len(labels), *self.space.shape), generator=rng)
        latents.flatten(1)[torch.arange(len(labels)), labels] += 2
        return latents

    def decode(self, latents: Latents, labels: Tensor) -> Images:  # noqa: ARG002
        """Bars two pixels wide."""
        bars = exactly(latents.flatten(1)[:, :3])
        return bars.repeat_interleave(2, 1)[:, None, None, :].expand(-1, 1, 6, 6).contiguous()


def exactly(values: Tensor) -> Tensor:
    """The sigmoid as a multiple of 2^-20: sums of a few of them are exact, in any order and on any processor.

    Vectorised functions may round the tail of an array differently, so that a row's last bits would depend on its position.
    Double precision is left as it is, for finite differences.
    """
    bars = values.double().sigmoid()
    if values.dtype == torch.float64:
        return bars
    steps = bars + (bars.mul(2**20).round().div(2**20) - bars).detach()
    return steps.to(values.dtype)


class ToyEncoder(ToyGenerator):
    """The toy generator with its inverse."""

    def encode(self, images: Images, labels: Tensor) -> Latents:  # noqa: ARG002
        """The brightness of each bar, through the inverse of the sigmoid."""
        bars = images.mean((1, 2)).unflatten(1, (3, 2)).mean(2)
        latents = torch.zeros(len(images), *self.space.shape)
        latents.flatten(1)[:, :3] = bars.clamp(0.02, 0.98).double().logit().mul(2**20).round().div(2**20).float()
        return latents


class ToyClassifier:
    """Scores are ten times the mean brightness of each bar.

    Args:
        name: what it is called.
        bias: added to the score of the left bar, so that two of them can disagree.
    """

    offers = frozenset({Capability.GRADIENT, Capability.ACTIVATIONS})

    def __init__(self, name: str = "toy-classifier", bias: float = 0.0) -> None:
        self.name, self.bias = name, bias
        self.classes = CLASSES

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, 3)."""
        return self.inspect(images, ())[0]

    def layers(self) -> tuple[str, ...]:
        """One layer: the brightness of the bars."""
        return ("bars",)

    def inspect(self, images: Images, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Logits (N, 3) and the mean brightness of each bar (N, 3)."""
        bars: Tensor = images.mean((1, 2)).unflatten(1, (3, 2)).mean(2)
        scores = 10 * bars
        if self.bias:
            scores = scores + torch.tensor([self.bias, 0.0, 0.0], dtype=scores.dtype)
        return scores, dict.fromkeys(layers, bars)


class ToyJudge:
    """A validator: an image is valid unless it is too dark, and keeps its label while no other bar is much brighter.

    Args:
        darkest: mean brightness from which on an image is valid.
        lead: by how much another bar may outshine the expected one.
    """

    name = "toy-judge"

    def __init__(self, darkest: float = 0.0, lead: float = 0.1) -> None:
        self.darkest, self.lead = darkest, lead

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """One verdict about the image and one about the label."""
        bars = images.mean((1, 2)).unflatten(1, (3, 2)).mean(2)
        behind = (bars.amax(1) - bars.gather(1, labels[:, None])[:, 0]).tolist()
        return [
            (
                Verdict(self.name, mean >= self.darkest, mean, "image", self.darkest),
                Verdict(self.name, gap <= self.lead, 1 - gap, "label", 1 - self.lead),
            )
            for mean, gap in zip(bars.mean(1).tolist(), behind, strict=True)
        ]


def write_toy_images(root: Path, per_class: int = 4) -> Path:
    """A class-per-folder tree of toy images: the named bar is bright, the others dim."""
    rng = np.random.default_rng(0)
    for label, name in enumerate(CLASSES):
        (root / name).mkdir(parents=True, exist_ok=True)
        for k in range(per_class):
            bars = rng.integers(60, 120, 3)
            bars[label] = 200
            pixels = np.repeat(bars, 2)[None].repeat(6, 0).astype(np.uint8)
            Image.fromarray(pixels).save(root / name / f"{k}.png")
    return root


def toy_recipe(root: Path, **changes: Any) -> dict[str, Any]:
    """A recipe over the toy models; hand them over as live objects or let it build them from this file."""
    here = Path(__file__)
    return {
        "name": "toy",
        "domain": str(root),
        "attempts": 9,
        "generator": f"{here}:ToyEncoder",
        "classifier": f"{here}:ToyClassifier",
        "search": {"use": "genetic", "extent": 0.02},
        "budget": {"evaluations": 400},
        "baseline": {"attempts": 6},
        "engine": {"chunk": 16, "lanes": 4},
        **changes,
    }
