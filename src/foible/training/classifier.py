"""Learner for classifiers: cross-entropy, with label smoothing and augmentation where the recipe asks for them.

A reference classifier is also shown images without a class, and taught to be unsure of them ("outlier exposure":
Hendrycks, Mazeika, Dietterich, ICLR 2019).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from foible.classifiers.adapted import AdaptedClassifier
from foible.domains import Domain, RealImages
from foible.registry import build
from foible.training.augment import Augmentation
from foible.training.beginnings import start_from
from foible.training.half import multiplied
from foible.training.invalid import FITTED, mixture
from foible.types import Images
from foible.zoo.files import Header


class ClassifierLearner:
    """Train one of the registered networks.

    Args:
        domain: gives image shape and class names.
        network: a name in the registry's `networks` table.
        config: parameters of the network.
        label_smoothing: share of the target spread over the other classes.
        augment: changes to training images, as in `Augmentation`.
        mean: per channel, subtracted from images before the network sees them.
        std: per channel, divided by after the mean.
        outliers: made-up invalid images shown beside every batch, as a share of it; their target is "any class".
        mixing: up to this share of another image is laid over each image, and its label counts as much (mixup: Zhang et
            al., ICLR 2018, with even instead of beta-distributed shares).
        start: weights to start from: a trained model of the same network, or a package, as in `start_from`.
        half: multiply in bfloat16 while training, as in `multiplied`.
    """

    role, family, watch = "classifiers", "module", "error"
    unaveraged: tuple[str, ...] = ()

    def __init__(
        self,
        domain: Domain,
        network: str = "deepconv",
        config: dict[str, Any] | None = None,
        label_smoothing: float = 0.0,
        augment: dict[str, Any] | None = None,
        mean: tuple[float, ...] = (0.0,),
        std: tuple[float, ...] = (1.0,),
        outliers: float = 0.0,
        mixing: float = 0.0,
        start: str | None = None,
        half: bool = False,
    ) -> None:
        self.domain, self.network_name = domain, network
        self.config = {"shape": list(domain.shape), "classes": len(domain.classes), **(config or {})}
        self.network: nn.Module = build("networks", network, self.config)
        if start:
            start_from(self.network, start)
        self.network.to(memory_format=torch.channels_last)
        self.label_smoothing, self.augment = label_smoothing, Augmentation(**(augment or {}))
        self.outliers, self.mixing, self.half = outliers, mixing, half
        self.normalisation = {"mean": list(mean), "std": list(std)}
        self._mean, self._std = (torch.tensor(v).view(1, -1, 1, 1) for v in (mean, std))

    @property
    def parts(self) -> Mapping[str, nn.Module]:
        """The whole network."""
        return {"classifier": self.network}

    def losses(self, images: Images, labels: Tensor, progress: float) -> Iterator[tuple[str, Tensor]]:  # noqa: ARG002
        """Cross-entropy of a batch, and of invalid images against all classes alike."""
        count = int(len(images) * self.outliers)
        invalid = mixture(images[:count], labels[:count], FITTED) if count else images[:0]
        shown = self.augment(torch.cat([images, invalid]))  # alike: no change may give nonsense away
        share = self.mixing * torch.rand(len(images))
        valid = torch.lerp(shown[: len(images)], shown[: len(images)].roll(1, 0), share.view(-1, 1, 1, 1))
        logits = self._logits(torch.cat([valid, shown[len(images) :]]))
        loss = self._mixed_loss(logits[: len(images)], labels, share)
        if count:
            loss = loss - self.outliers * logits[len(images) :].log_softmax(1).mean()
        yield "classifier", loss

    def _mixed_loss(self, logits: Tensor, labels: Tensor, share: Tensor) -> Tensor:
        """Cross-entropy against each image's label and that of the image mixed in, by their shares."""
        own, other = (
            functional.cross_entropy(logits, y, reduction="none", label_smoothing=self.label_smoothing)
            for y in (labels, labels.roll(1, 0))
        )
        return torch.lerp(own, other, share).mean()

    def measure(self, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """Error (share of wrong answers) and cross-entropy per image."""
        logits = self._logits(images)
        return {
            "error": (logits.argmax(1) != labels).float(),
            "cross_entropy": functional.cross_entropy(logits, labels, reduction="none"),
        }

    def header(self) -> Header:
        """How the trained classifier is rebuilt."""
        config = {
            "network": self.network_name,
            "network_config": self.config,
            "classes": list(self.domain.classes),
            **self.normalisation,
        }
        return Header(role=self.role, family=self.family, domain=self.domain.name, config=config)

    def tensors(self, data: RealImages) -> dict[str, Tensor]:  # noqa: ARG002
        """What goes into the model file."""
        return dict(self.network.state_dict())

    @staticmethod
    def figures(model: AdaptedClassifier, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """Figures of the stored model on test images, per image."""
        return {"test_accuracy": (model(images).argmax(1) == labels).float()}

    def _logits(self, images: Images) -> Tensor:
        normal = ((images - self._mean) / self._std).contiguous(memory_format=torch.channels_last)
        with multiplied(self.half, self.network):
            logits: Tensor = self.network(normal)
        return logits.float()
