"""Steps that stay near the origin: directions from gradients, lengths by a norm, and the way back into the ball and the bounds."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.types import Latents, LatentSpace

Norm = Literal["l2", "linf"]
NORMS = ("l2", "linf")
USUAL = 0.25  # of the length of a typical latent: how far a search may go where nothing is said
GRID = 2**16  # latents are multiples of 1 / GRID: last bits of a gradient may depend on a row's place in a batch
TINY = 1e-12


def radius_of(space: LatentSpace, norm: Norm, radius: float | None) -> float:
    """How far from its origin a search may go: as said, or a share of how much latents vary."""
    if radius is not None:
        return radius
    step = space.step.expand(space.shape)
    return USUAL * float(step.norm() if norm == "l2" else step.mean())


def unit(directions: Tensor) -> Tensor:
    """Each row (N, ...) as a vector of length 1; nothing stays nothing."""
    rows = directions.flatten(1)
    lengths: Tensor = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return (rows / lengths.clamp_min(TINY)).view_as(directions)


def along(directions: Tensor, norm: Norm) -> Tensor:
    """The steepest way of length 1 in a norm."""
    return unit(directions) if norm == "l2" else directions.sign()


def projected(latents: Latents, origins: Latents, space: LatentSpace, norm: Norm, radius: float) -> Latents:
    """Latents (N, *latent) brought back into the ball around their origins, and then inside the bounds.

    The bounds take nothing outside the ball: an origin lies inside them, so that clamping shortens every coordinate.
    """
    away = latents - origins
    if norm == "linf":
        away = away.clamp(-radius, radius)
    else:
        length = torch.linalg.vector_norm(away.flatten(1), dim=1).clamp_min(TINY)
        away = away * (radius / length).clamp_max(1).view(-1, *[1] * (away.ndim - 1))
    return space.clamp(origins + away).mul(GRID).round().div(GRID)


def refuse_unfit(name: str, norm: str, radius: float | None, step: float, steps: int) -> None:
    """Name a setting that makes no step."""
    if norm not in NORMS or (radius is not None and not 0 < radius < math.inf) or not step > 0 or steps < 1:
        raise RecipeError(
            f"{name}: norm '{norm}' must be one of {', '.join(NORMS)}, radius {radius} and step {step} above 0, steps "
            f"{steps} at least 1"
        )


def scattered(origins: Latents, dice: Tensor, space: LatentSpace, norm: Norm, radius: float) -> Latents:
    """A random point of the ball around each origin, from numbers in [-1, 1] (N, *latent)."""
    away = (
        dice * radius
        if norm == "linf"
        else unit(dice) * radius * dice.flatten(1)[:, :1].abs().view(-1, *[1] * (dice.ndim - 1))
    )
    return torch.as_tensor(projected(origins + away, origins, space, norm, radius))
