"""Which obligations no image of a ball can cover: a proof, for those that ask for a value of a unit of the first layer.

Such a unit is affine in the pixels. What it can reach inside a ball around an image and inside [0, 1] is bounded by duality: for any
weight t of the ball, max w.d over |d| <= r and -x <= d <= 1 - x is at most t r^2 + sum_i max_{d_i} (w_i d_i - t d_i^2). The least of
these over a range of t is the bound. Deeper layers are not looked at: the product of the layers' norms bounds their units at 10 to 500 standard
deviations in a ball of radius 3 (LeNet-5), which proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from foible.coverage import Batch, Criterion
from foible.coverage.boundary import NBC
from foible.coverage.changes import SS
from foible.coverage.sections import KMNC

WEIGHTS = torch.logspace(-6, 2, 81)


def out_of_reach(
    criterion: Criterion, aims: Tensor, base: Batch, images: Tensor, show: Callable[[Tensor], Tensor], radius: float
) -> Tensor:
    """Which aims (N,) are proved to be out of reach of their images.

    Args:
        criterion: whose obligations they are.
        aims: one for each image (N, 1).
        base: what the units give for the images.
        images: (N, C, H, W).
        show: the values of the units (N, units), on the graph.
        radius: of the ball (l2).
    """
    wanted = wanted_values(criterion, aims, base)
    if wanted is None:
        return torch.zeros(len(images), dtype=torch.bool)
    unit, some = wanted
    moving = images.detach().requires_grad_()
    values = show(moving).gather(1, unit[:, None])[:, 0]
    (slope,) = torch.autograd.grad(values.sum(), moving)
    rise, fall = (farthest(images, side * slope, radius) for side in (1.0, -1.0))
    low, high = values.detach() - fall, values.detach() + rise
    possible = torch.stack([(high >= start) & (low <= end) for start, end in some]).any(0)
    return (criterion.profile.scope.layer_of[unit] == 0) & ~possible


def farthest(images: Tensor, slope: Tensor, radius: float) -> Tensor:
    """An upper bound of slope . d (N,) over the ball and [0, 1]."""
    x, w = images.flatten(1), slope.flatten(1)
    bounds = []
    for t in WEIGHTS.tolist():
        d = torch.minimum(torch.maximum(w / (2 * t), -x), 1 - x)
        bounds.append(t * radius**2 + (w * d - t * d.square()).sum(1))
    return torch.stack(bounds).amin(0)


def wanted_values(criterion: Criterion, aims: Tensor, base: Batch) -> tuple[Tensor, list[tuple[Tensor, Tensor]]] | None:
    """The unit of each aim (N,) and the intervals of its value of which one is needed; None where an aim is no such thing."""
    aim, profile = aims[:, 0], criterion.profile
    nowhere = torch.full(aim.shape, torch.inf)
    if isinstance(criterion, KMNC):
        unit, width = aim // criterion.k, profile.span[aim // criterion.k] / criterion.k
        low = profile.low[unit] + aim % criterion.k * width
        return unit, [(low, low + width)]
    if isinstance(criterion, NBC):
        unit = aim // len(criterion.sides)
        up = torch.tensor(criterion.sides)[aim % len(criterion.sides)] > 0
        edge = criterion.threshold_of[aim]
        return unit, [(torch.where(up, edge, -nowhere), torch.where(up, nowhere, -edge))]
    if isinstance(criterion, SS):
        unit = criterion.units_of(aims)[1][:, 0]
        start = base.values.gather(1, unit[:, None])[:, 0]
        if criterion.wish.condition == "value":
            return unit, [(start + criterion.far[unit], nowhere), (-nowhere, start - criterion.far[unit])]
        zero = torch.zeros_like(start)
        return unit, [(torch.where(start > 0, -nowhere, zero), torch.where(start > 0, zero, nowhere))]
    return None
