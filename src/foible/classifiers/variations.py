"""Harmless variations of an image: a shift by one pixel, a slight blur, faint noise, a touch darker.

Nobody would call the picture another one. A failure that such a variation undoes is a speck of noise in front of this very
pixel grid; one that stays under most of them is a failure of the classifier. Two sets: `MEASURED` says how steady a
finding is, `SEARCHED` is what a search may look through, so that no search is marked on what it has trained for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from foible.protocols import Classifier
from foible.types import Images

Variation = Callable[[Images], Images]

NOISE = 0.02  # standard deviation, of a range of 1: five grey levels


def shifted(images: Images, down: int, right: int) -> Images:
    """Moved by some pixels; the border is repeated."""
    height, width = images.shape[-2:]
    padded = functional.pad(images, (abs(right), abs(right), abs(down), abs(down)), mode="replicate")
    top, left = abs(down) - down, abs(right) - right
    return padded[..., top : top + height, left : left + width]


def blurred(images: Images, share: float) -> Images:
    """Each pixel keeps most of its value and takes a share from its neighbours (3 x 3 binomial kernel)."""
    channels = images.shape[1]
    side = torch.tensor([1.0, 2.0, 1.0], dtype=images.dtype, device=images.device)
    kernel = (side[:, None] * side / 16).expand(channels, 1, 3, 3)
    soft = functional.conv2d(functional.pad(images, (1, 1, 1, 1), mode="replicate"), kernel, groups=channels)
    return (1 - share) * images + share * soft


def noisy(images: Images, seed: int) -> Images:
    """Faint noise, the same pattern on every image of a size."""
    pattern = torch.randn(images.shape[1:], generator=torch.Generator().manual_seed(seed), dtype=torch.float32)
    return (images + NOISE * pattern.to(images)).clamp(0, 1)


def dimmed(images: Images, factor: float) -> Images:
    """A touch darker."""
    return factor * images


MEASURED: dict[str, Variation] = {
    "one pixel up": partial(shifted, down=-1, right=0),
    "one pixel down": partial(shifted, down=1, right=0),
    "one pixel left": partial(shifted, down=0, right=-1),
    "one pixel right": partial(shifted, down=0, right=1),
    "slight blur": partial(blurred, share=0.5),
    "faint noise": partial(noisy, seed=1),
    "5 % darker": partial(dimmed, factor=0.95),
}

SEARCHED: dict[str, Variation] = {
    "up and left": partial(shifted, down=-1, right=-1),
    "down and right": partial(shifted, down=1, right=1),
    "blur and other noise": lambda images: noisy(blurred(images, share=0.6), seed=2),
    "down and left": partial(shifted, down=1, right=-1),
    "up and right": partial(shifted, down=-1, right=1),
}


def varied(images: Images, variations: list[Variation]) -> Images:
    """Every image under every variation, (N, V, C, H, W)."""
    return torch.stack([vary(images) for vary in variations], 1)


class Varied:
    """A classifier that looks at variations of each image: logits (N, V, classes).

    Args:
        classifier: who looks.
        variations: through what.
    """

    def __init__(self, classifier: Classifier, variations: list[Variation]) -> None:
        self.classifier, self.variations = classifier, variations
        self.name, self.classes, self.offers = classifier.name, classifier.classes, classifier.offers

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, V, classes)."""
        many = varied(images, self.variations)
        scores: Tensor = self.classifier(many.flatten(0, 1)).unflatten(0, many.shape[:2])
        return scores
