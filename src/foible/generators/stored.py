"""What the generators in model files have in common: the latent space is stored beside the weights."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from foible.types import LatentSpace

SPACE_SAMPLE = 1000  # latents from which a space is measured, as in the published study
_PREFIX = "space."


def space_tensors(space: LatentSpace) -> dict[str, Tensor]:
    """The tensors under which a model file keeps a measured space."""
    return {_PREFIX + "low": space.low, _PREFIX + "high": space.high, _PREFIX + "step": space.step}


def stored_space(shape: tuple[int, ...], tensors: Mapping[str, Tensor]) -> LatentSpace:
    """The space kept in a model file."""
    return LatentSpace(shape, *(tensors[_PREFIX + part] for part in ("low", "high", "step")))


def weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The network's own tensors of a model file."""
    return {k: v for k, v in tensors.items() if not k.startswith(_PREFIX)}
