"""Any torch module as a classifier: normalisation in front, logits behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foible.classifiers.activations import layer_names, record
from foible.classifiers.network import OutputKind
from foible.errors import ModelError
from foible.registry import build
from foible.types import Capability, Images


class ModuleClassifier:
    """A torch module that scores images.

    Args:
        name: what to call it in reports.
        module: takes (N, C, H, W) and gives (N, classes).
        classes: class names in the order of the scores.
        mean: per channel, subtracted from images in [0, 1].
        std: per channel, divided by after the mean.
        output: what the module gives; probabilities are turned into logits by the logarithm.
    """

    offers = frozenset({Capability.GRADIENT, Capability.ACTIVATIONS})

    def __init__(
        self,
        name: str,
        module: nn.Module,
        classes: Sequence[str],
        mean: Sequence[float] = (0.0,),
        std: Sequence[float] = (1.0,),
        output: OutputKind = "logits",
    ) -> None:
        if any(s <= 0 for s in std):
            raise ModelError(
                f"classifier '{name}': std must be positive, got {list(std)}",
                "std divides the pixels: use 1.0 for none",
            )
        self.name = name
        self.module = module.eval().requires_grad_(False)
        self.classes = tuple(classes)
        self.output = output
        self.plain = set(mean) == {0.0} and set(std) == {1.0}
        self.mean = torch.tensor(mean, dtype=torch.float32).view(1, -1, 1, 1)
        self.std = torch.tensor(std, dtype=torch.float32).view(1, -1, 1, 1)

    @classmethod
    def from_weights(cls, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> ModuleClassifier:
        """Rebuild from a model file: `network` names the architecture, `network_config` its parameters."""
        network = build("networks", config["network"], config["network_config"])
        network.load_state_dict(dict(tensors))
        network.to(memory_format=torch.channels_last)  # faster; a stranger's module may call view(), which forbids it
        rest = {k: v for k, v in config.items() if k not in {"network", "network_config"}}
        return cls(name, network, **rest)

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self.module.to(device)
        self.mean, self.std = self.mean.to(device), self.std.to(device)

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, classes) for images in [0, 1]."""
        scores: Tensor = self.module(self._inputs(images))
        return scores.clamp_min(1e-12).log() if self.output == "probabilities" else scores

    def layers(self) -> tuple[str, ...]:
        """The names of all submodules."""
        return layer_names(self.module)

    def activations(self, images: Images, layers: Sequence[str]) -> Mapping[str, Tensor]:
        """What these submodules give, each (N, ...)."""
        return record(self.module, self._inputs(images), layers)

    def _inputs(self, images: Images) -> Tensor:
        return images if self.plain else (images - self.mean) / self.std
