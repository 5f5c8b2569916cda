"""Pieces of which the criteria build their differentiable objectives."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

SHARPNESS = 10.0
ROOM = 0.02  # by how much each of several demands is to be met, in units of its scale
MARGIN = 1e-3  # how far beyond an obligation's edge to aim, in units of its scale


def short_of(gap: Tensor) -> Tensor:
    """A soft hinge: about `gap` while an obligation is short by that much, and nearly nothing once it is met."""
    return functional.softplus(gap + MARGIN, beta=SHARPNESS)


def breach(gap: Tensor) -> Tensor:
    """How badly one of many demands is broken: the square of what is missing, and exactly nothing once it is met with room.

    For demands that have to hold together. In a sum of soft hinges the many that hold push as hard as the few that do not.
    """
    return functional.relu(gap + ROOM).square()


def outside(gap: Tensor) -> Tensor:
    """Huber's loss of a distance that is nothing inside: square nearby, linear far away."""
    return functional.huber_loss(gap, torch.zeros_like(gap), reduction="none")


def aimed(values: Tensor, aims: Tensor) -> Tensor:
    """The values (N, C) at the columns aimed at (N, A)."""
    return values.gather(1, aims.clamp_min(0))


def mean_of_aims(terms: Tensor, aims: Tensor) -> Tensor:
    """The mean over the aims of each row (N,); 0 where a row has none."""
    real = aims >= 0
    return torch.where(real, terms, 0).sum(1) / real.sum(1).clamp_min(1)
