"""Learner for classifiers: cross-entropy, with label smoothing and small shifts where the recipe asks for them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from foible.classifiers.module import ModuleClassifier
from foible.domains import Domain, RealImages
from foible.registry import build
from foible.types import Images
from foible.zoo.files import Header


class ClassifierLearner:
    """Train one of the registered networks.

    Args:
        domain: gives image shape and class names.
        network: a name in the registry's `networks` table.
        config: parameters of the network.
        label_smoothing: share of the target spread over the other classes.
        shift: largest random shift in pixels while training; 0 = no augmentation.
    """

    role, family, watch = "classifiers", "module", "error"

    def __init__(
        self,
        domain: Domain,
        network: str = "deepconv",
        config: dict[str, Any] | None = None,
        label_smoothing: float = 0.0,
        shift: int = 0,
    ) -> None:
        self.domain, self.network_name = domain, network
        self.config = {"shape": list(domain.shape), "classes": len(domain.classes), **(config or {})}
        self.network: nn.Module = build("networks", network, self.config).to(memory_format=torch.channels_last)
        self.label_smoothing, self.shift = label_smoothing, shift

    def loss(self, images: Images, labels: Tensor, progress: float) -> Tensor:  # noqa: ARG002
        """Cross-entropy of a batch."""
        if self.shift:
            images = _shifted(images, self.shift)
        return functional.cross_entropy(self.network(images), labels, label_smoothing=self.label_smoothing)

    def measure(self, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """Error (share of wrong answers) and cross-entropy per image."""
        logits = self.network(images)
        return {
            "error": (logits.argmax(1) != labels).float(),
            "cross_entropy": functional.cross_entropy(logits, labels, reduction="none"),
        }

    def header(self) -> Header:
        """How the trained classifier is rebuilt."""
        config = {"network": self.network_name, "network_config": self.config, "classes": list(self.domain.classes)}
        return Header(role=self.role, family=self.family, domain=self.domain.name, config=config)

    def tensors(self, data: RealImages) -> dict[str, Tensor]:  # noqa: ARG002
        """What goes into the model file."""
        return dict(self.network.state_dict())

    @staticmethod
    def figures(model: ModuleClassifier, images: Images, labels: Tensor) -> dict[str, Tensor]:
        """Figures of the stored model on test images, per image."""
        return {"test_accuracy": (model(images).argmax(1) == labels).float()}


def _shifted(images: Images, most: int) -> Images:
    """The batch moved by one random offset per call, zeros coming in at the edge."""
    dx, dy = torch.randint(-most, most + 1, (2,)).tolist()
    height, width = images.shape[-2:]
    padded = functional.pad(images, (most, most, most, most))
    return padded[..., most + dy : most + dy + height, most + dx : most + dx + width]
