"""A trained classifier from which a generator learns what counts in an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn

from foible.classifiers.activations import run_and_record
from foible.registry import build
from foible.types import Images


class Teacher(nn.Module):
    """A trained classifier, never changed: it names the class and shows what it sees at some of its layers.

    Args:
        network: name of its architecture.
        network_config: parameters of the architecture.
        mean: per channel, subtracted from images in [0, 1].
        std: per channel, divided by after the mean.
        layers: names of the layers whose maps it shows.
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        network: str,
        network_config: Mapping[str, Any],
        mean: Sequence[float],
        std: Sequence[float],
        layers: Sequence[str],
    ) -> None:
        super().__init__()
        self.config = {
            "network": network,
            "network_config": dict(network_config),
            "mean": list(mean),
            "std": list(std),
            "layers": list(layers),
        }
        self.network: nn.Module = build("networks", network, network_config)
        self.layers = tuple(layers)
        for name, values in (("mean", mean), ("std", std)):
            self.register_buffer(name, torch.tensor(values).view(1, -1, 1, 1), persistent=False)
        self.eval().requires_grad_(False)

    def train(self, mode: bool = True) -> Self:  # noqa: ARG002
        """It has been trained."""
        return super().train(False)

    def forward(self, images: Images) -> tuple[Tensor, list[Tensor]]:
        """Class logits (N, classes) of images in [0, 1], and the maps of each layer."""
        logits, maps = run_and_record(self.network, (images - self.mean) / self.std, self.layers)
        return logits, list(maps.values())
