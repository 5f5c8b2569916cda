"""What the generators in model files have in common: a network, and a latent space stored beside its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from foible.types import Latents, LatentSpace

SPACE_SAMPLE = 1000  # latents from which a space is measured, as in the published study
_PREFIX = "space."


class StoredGenerator:
    """A generator over a network that is rebuilt from a model file; a family adds `build` and `decode`.

    Args:
        name: what to call it in reports.
        network: maps latents to images, and knows their `shape`.
        space: latents the search may visit.
    """

    settings: ClassVar[frozenset[str]] = frozenset()  # what a recipe may choose anew
    network: Any

    def __init__(self, name: str, network: nn.Module, space: LatentSpace) -> None:
        self.name = name
        self.network = network.eval().requires_grad_(False)
        self.space = space

    @staticmethod
    def build(config: Mapping[str, Any]) -> nn.Module:
        """The network that a model file's header describes, without its weights."""
        raise NotImplementedError

    @classmethod
    def from_weights(cls, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor], **settings: Any) -> Self:
        """Rebuild from a model file."""
        network = cls.build(config)
        network.load_state_dict(network_tensors(tensors))
        low, high, step = (tensors[_PREFIX + part] for part in ("low", "high", "step"))
        return cls(name, network, LatentSpace(tuple(step.shape), low, high, step), **settings)

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels, height and width of the images."""
        shape: tuple[int, ...] = self.network.shape
        return shape

    def to(self, device: torch.device) -> None:
        """Move the network to a device; the space stays where searches work, on the CPU."""
        self.network.to(device)

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Normal latents (N, *latent), one per label, inside the space."""
        return self.space.clamp(torch.randn((len(labels), *self.space.shape), generator=rng))


def space_tensors(space: LatentSpace) -> dict[str, Tensor]:
    """The tensors under which a model file keeps a measured space."""
    return {_PREFIX + "low": space.low, _PREFIX + "high": space.high, _PREFIX + "step": space.step}


def network_tensors(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a model file that belong to its network."""
    return {name: tensor for name, tensor in tensors.items() if not name.startswith(_PREFIX)}
