"""Learner for conditional GANs: hinge loss, an auxiliary class loss, the same augmentation on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from foible.domains import Domain, RealImages
from foible.generators.gan import GAN
from foible.generators.networks.gan import ConditionalGAN
from foible.generators.stored import SPACE_SAMPLE, space_tensors
from foible.training.augment import Augmentation
from foible.training.beginnings import start_from
from foible.training.half import multiplied
from foible.training.teacher import known_teacher
from foible.types import Images, LatentSpace
from foible.zoo.files import Header


class GANLearner:
    """Train generator and discriminator against each other.

    Args:
        domain: gives image shape and classes.
        class_weight: weight of the loss by which both sides name the class.
        augment: changes to real and made images alike before the discriminator sees them.
        teacher: a classifier that the discriminator leans on, as in `known_teacher`.
        truncation: of the stored generator: its samples stay within so many standard deviations; training knows no such bound.
        start: a trained GAN of the same networks and teacher whose training goes on, as in `start_from`.
        half: multiply in bfloat16 while training, as in `multiplied`.
        **config: parameters of `ConditionalGAN`.
    """

    role, family, watch = "generators", "gan", None
    unaveraged: tuple[str, ...] = ("discriminator",)

    def __init__(
        self,
        domain: Domain,
        class_weight: float = 0.5,
        augment: dict[str, Any] | None = None,
        teacher: dict[str, Any] | None = None,
        truncation: float | None = None,
        start: str | None = None,
        half: bool = False,
        **config: Any,
    ) -> None:
        self.domain, self.class_weight, self.half = domain, class_weight, half
        self.augment = Augmentation(**(augment or {}))
        self.config = {"shape": list(domain.shape), "classes": len(domain.classes), **config}
        known = known_teacher(domain, **teacher) if teacher else None
        self.network = ConditionalGAN(**self.config, teacher=known)
        if start:
            start_from(self.network, start)
        if known:
            self.config["teacher"] = known.config
        if truncation is not None:
            self.config["truncation"] = truncation

    @property
    def parts(self) -> Mapping[str, nn.Module]:
        """The two players."""
        return {"discriminator": self.network.discriminator, "generator": self.network.generator}

    def losses(self, images: Images, labels: Tensor, progress: float) -> Iterator[tuple[str, Tensor]]:  # noqa: ARG002
        """First the discriminator's, then the generator's against the improved discriminator, on the same images."""
        made = self._made(labels)
        both = self.augment(torch.cat([images * 2 - 1, made.detach()]))
        score, names = self._judged(both, torch.cat([labels, labels]))
        real, fake = score.chunk(2)
        hinge = (functional.relu(1 - real) + functional.relu(1 + fake)).sum(1).mean()
        yield "discriminator", hinge + self.class_weight * functional.cross_entropy(names[: len(labels)], labels)
        score, names = self._judged(self.augment(made), labels)
        yield "generator", -score.sum(1).mean() + self.class_weight * functional.cross_entropy(names, labels)

    def measure(self, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """How real the discriminator finds held-out images, and images made for the same classes."""
        shown = {"score_real": images * 2 - 1, "score_made": self._made(labels)}
        return {name: self._judged(some, labels)[0].sum(1) for name, some in shown.items()}

    def _made(self, labels: Tensor) -> Images:
        with multiplied(self.half, self.network):
            made: Images = self.network.generator(torch.randn(len(labels), self.network.latent), labels)
        return made.float()

    def _judged(self, images: Images, labels: Tensor) -> tuple[Tensor, Tensor]:
        with multiplied(self.half, self.network):
            score, names = self.network.discriminator(images, labels)
        return score.float(), names.float()

    def header(self) -> Header:
        """How the trained generator is rebuilt."""
        return Header(role=self.role, family=self.family, domain=self.domain.name, config=self.config)

    def tensors(self, data: RealImages) -> dict[str, Tensor]:  # noqa: ARG002
        """Weights of both players, and the latent space measured on normal draws."""
        draws = torch.randn(SPACE_SAMPLE, self.network.latent, generator=torch.Generator().manual_seed(0))
        return {**self.network.state_dict(), **space_tensors(LatentSpace.measured(draws))}

    @staticmethod
    def figures(model: GAN, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """How real the stored discriminator finds test images, per image."""
        return {"score_real": model.realness(images, labels)}
