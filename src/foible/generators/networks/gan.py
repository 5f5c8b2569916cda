"""Conditional DCGAN: the generator takes a class embedding beside the latent, the discriminator judges image and class.

Differs from the original in: the discriminator compares its features with a class vector (projection, Miyato and
Koyama 2018) instead of taking the class as an image plane, its weights are spectrally normalised, and a second head
names the class it sees (Odena et al. 2017). It may lean on a trained classifier of the domain.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm

from foible.errors import RecipeError
from foible.generators.networks.teacher import Teacher
from foible.types import Images, Latents


class Maker(nn.Module):
    """Latents (N, latent) and classes (N,) to images in [-1, 1].

    Height and width must be divisible by 2 to the number of `widths`.

    Args:
        shape: channels, height, width of the images.
        classes: number of classes.
        latent: number of latent coordinates.
        embedding: coordinates of a class.
        widths: maps before each doubling of the image.
    """

    def __init__(
        self, shape: tuple[int, int, int], classes: int, latent: int, embedding: int, widths: tuple[int, ...]
    ) -> None:
        super().__init__()
        channels, height, width = shape
        halvings = 2 ** len(widths)
        self.embed = nn.Embedding(classes, embedding)
        first = (height // halvings, width // halvings)
        layers = _layers(nn.ConvTranspose2d(latent + embedding, widths[0], first, bias=False), widths[0])
        for a, b in pairwise(widths):
            layers += _layers(nn.ConvTranspose2d(a, b, 4, 2, 1, bias=False), b)
        self.layers = nn.Sequential(*layers, nn.ConvTranspose2d(widths[-1], channels, 4, 2, 1), nn.Tanh())

    def forward(self, latents: Latents, labels: Tensor) -> Images:
        """Images in [-1, 1]."""
        images: Images = self.layers(torch.cat([latents, self.embed(labels)], 1)[:, :, None, None])
        return images


class Head(nn.Module):
    """Maps (N, channels, height, width) and classes to one score each: high = looks real."""

    def __init__(self, channels: int, classes: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for a, b in pairwise([channels, *widths]):
            layers += [spectral_norm(nn.Conv2d(a, b, 4, 2, 1)), nn.LeakyReLU(0.2, inplace=True)]
        layers += [spectral_norm(nn.Conv2d(widths[-1], widths[-1], 3, 1, 1)), nn.LeakyReLU(0.2, inplace=True)]
        self.layers = nn.Sequential(*layers)
        self.real = spectral_norm(nn.Linear(widths[-1], 1))
        self.embed = spectral_norm(nn.Embedding(classes, widths[-1]))

    def features(self, maps: Tensor) -> Tensor:
        """What the score is made of, (N, last width)."""
        features: Tensor = self.layers(maps).sum((2, 3))
        return features

    def score(self, features: Tensor, labels: Tensor) -> Tensor:
        """Scores (N,)."""
        score: Tensor = self.real(features)[:, 0] + (self.embed(labels) * features).sum(1)
        return score


class Judge(Head):
    """Images in [-1, 1] and classes to scores (high = looks real), and class scores.

    Without a teacher it sees pixels, gives one score and learns the classes by a layer of its own. With one it also
    looks at the teacher's maps, a score for each, and the teacher names the class (Sauer et al., "Projected GANs
    converge faster", 2021, where the maps are those of a network for photographs).

    Args:
        shape: channels, height, width of the images.
        classes: number of classes.
        widths: maps after each halving of the image.
        teacher: a trained classifier to lean on.
    """

    teacher: Teacher | None
    classes: nn.Linear

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        widths: tuple[int, ...],
        teacher: Teacher | None = None,
    ) -> None:
        super().__init__(shape[0], classes, widths)
        self.teacher = teacher
        if teacher is None:
            self.classes = nn.Linear(widths[-1], classes)
            return
        shown = teacher(torch.zeros(1, *shape))[1]
        for layer, maps in zip(teacher.layers, shown, strict=True):
            if maps.ndim != 4 or min(maps.shape[2:]) < 2:
                raise RecipeError(
                    f"teacher: layer '{layer}' gives {tuple(maps.shape[1:])}, no maps that can be halved",
                    "name an earlier layer",
                )
        self.heads = nn.ModuleList(Head(maps.shape[1], classes, widths[-1:]) for maps in shown)

    def forward(self, images: Images, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Scores (N, 1 + maps of the teacher) and class logits (N, classes)."""
        features = self.features(images)
        scores = [self.score(features, labels)]
        if self.teacher is None:
            return torch.stack(scores, 1), self.classes(features)
        logits, shown = self.teacher(images.add(1).div(2))
        for head, maps in zip(self.heads, shown, strict=True):
            assert isinstance(head, Head)
            scores.append(head.score(head.features(maps), labels))
        return torch.stack(scores, 1), logits


class ConditionalGAN(nn.Module):
    """Generator and discriminator in one module, so that they are saved, averaged and moved together."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        latent: int = 100,
        embedding: int = 10,
        widths: tuple[int, ...] = (128, 64),
        judge_widths: tuple[int, ...] = (64, 128),
        teacher: Teacher | None = None,
    ) -> None:
        super().__init__()
        self.shape, self.latent = tuple(shape), latent
        self.generator = Maker(shape, classes, latent, embedding, widths)
        self.discriminator = Judge(shape, classes, judge_widths, teacher)
        for module in self.modules():
            if isinstance(module, nn.ConvTranspose2d):
                nn.init.normal_(module.weight, 0.0, 0.02)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def _layers(convolution: nn.Module, width: int) -> list[nn.Module]:
    return [convolution, nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
