"""Steps along a slope in a latent space's own units, and halvings of the way back: what searches by gradients share."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from foible.protocols import Lanes
from foible.types import LatentSpace, State

FIRST, SHORTEST = 0.35, 0.02  # of the length of a typical latent: the longest first step, and the shortest of all


def downhill(
    state: State, lanes: Lanes, margins: Tensor, slopes: Tensor, keep: float | Tensor, overshoot: float
) -> State:
    """One bounded step towards where the margin would be -keep if it were linear; whether that is `near`, or it is `stuck`.

    Args:
        state: with "latents" (L, *latent), the last "margin" (L,) and how far a step may "reach" (L,).
        lanes: the searches under way.
        margins: at these latents (L,).
        slopes: their gradients (L, *latent).
        keep: margin by which a failure must fail, one for all or (L,).
        overshoot: how much further to go.
    """
    scale, length = natural_scale(lanes.space), natural_length(lanes.space)
    slopes = slopes * scale
    steepness = torch.linalg.vector_norm(slopes.flatten(1), dim=1)
    reach = torch.where(margins > state["margin"], state["reach"] / 2, state["reach"])
    guess = (margins + keep).clamp_min(0) * (1 + overshoot) / steepness.clamp_min(1e-12)
    size = torch.minimum(guess.clamp_min(SHORTEST * length), reach * length)
    move = -wide(size / steepness.clamp_min(1e-12), slopes) * slopes * scale
    latents = lanes.space.clamp(state["latents"] + move)
    stuck = (steepness == 0) | (reach < SHORTEST / 4)
    return {"latents": latents, "reach": reach, "near": guess <= reach * length, "stuck": stuck}


def halved(low: Tensor, high: Tensor, which: Tensor, fails: Tensor) -> tuple[Tensor, Tensor]:
    """The part of the way back in which the last failure lies, after the middle was looked at."""
    middle = (low + high) / 2
    return torch.where(which & ~fails, middle, low), torch.where(which & fails, middle, high)


def natural_scale(space: LatentSpace) -> Tensor:
    """How much each coordinate varies by itself: one that never varies is left alone."""
    return space.step.expand(space.shape)


def natural_length(space: LatentSpace) -> float:
    """The length of a typical latent, counted in natural scales: the square root of the coordinates that vary."""
    return math.sqrt(int((natural_scale(space) > 0).sum()))


def wide(values: Tensor, like: Tensor) -> Tensor:
    """Values (L,) shaped so that they broadcast over the latents of a lane."""
    return values.view(-1, *[1] * (like.dim() - 1))


def where(mask: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Latents of the first where the lane's mask is true, of the second elsewhere."""
    return torch.where(wide(mask, first), first, second)
