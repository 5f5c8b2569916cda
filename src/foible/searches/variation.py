"""New latents from old ones: simulated binary crossover and polynomial mutation, batched, from given random numbers.

Deb and Agrawal, "Simulated binary crossover for continuous search space", Complex Systems 9 (1995); Deb and Goyal, "A
combined genetic adaptive search (GeneAS) for engineering design" (1996); both in their bounded form, as in pymoo.

    paper                          here
    eta_c, eta_m                   eta: the larger, the closer children stay
    u, the random number           `spread`, `shift`: uniform in [0, 1)
    p_c per variable, p_m          the masks `cross` and `mutate`, drawn by the caller

Powers are computed in double precision and rounded once: in single precision their last bit may depend on where in a
batch a number stands, and a lane's children must not depend on the lanes beside it.
"""

from __future__ import annotations

import torch
from torch import Tensor

ALIKE = 1e-14  # parents closer than this have nothing to exchange


def crossed(
    mother: Tensor,
    father: Tensor,
    low: Tensor,
    high: Tensor,
    *,
    cross: Tensor,
    swap: Tensor,
    spread: Tensor,
    eta: float,
) -> tuple[Tensor, Tensor]:
    """Two children of each pair of parents, inside the bounds.

    Args:
        mother: (..., *latent), inside the bounds.
        father: the same shape.
        low: lower bounds, which broadcast.
        high: upper bounds.
        cross: where coordinates are exchanged (same shape, bool); elsewhere children equal their parents.
        swap: where the two children's coordinates change places.
        spread: uniform numbers in [0, 1), one per coordinate.
        eta: distribution index.
    """
    one, two, below, above = (t.double() for t in torch.broadcast_tensors(mother, father, low, high))
    small, large = torch.minimum(one, two), torch.maximum(one, two)
    gap = large - small
    active = cross & (gap > ALIKE) & (below < above)
    width = torch.where(active, gap, 1.0)
    middle = small + large
    lower = 0.5 * (middle - _spread(1 + 2 * (small - below) / width, spread.double(), eta) * width)
    upper = 0.5 * (middle + _spread(1 + 2 * (above - large) / width, spread.double(), eta) * width)
    mirrored = (one > two) != swap  # the child near the smaller parent belongs to that parent, unless they swap
    first = torch.where(active, torch.where(mirrored, upper, lower), one)
    second = torch.where(active, torch.where(mirrored, lower, upper), two)
    return tuple(torch.clamp(child, below, above).to(mother.dtype) for child in (first, second))  # type: ignore[return-value]


def mutated(latents: Tensor, low: Tensor, high: Tensor, *, mutate: Tensor, shift: Tensor, eta: float) -> Tensor:
    """Latents with some coordinates moved, inside the bounds.

    Args:
        latents: (..., *latent), inside the bounds.
        low: lower bounds, which broadcast.
        high: upper bounds.
        mutate: where coordinates move (same shape, bool).
        shift: uniform numbers in [0, 1), one per coordinate; 0.5 is no move.
        eta: distribution index.
    """
    old, below, above = (t.double() for t in torch.broadcast_tensors(latents, low, high))
    width = torch.where(above > below, above - below, 1.0)
    u, power = shift.double(), eta + 1
    down = (2 * u + (1 - 2 * u) * (1 - (old - below) / width) ** power).clamp_min(0) ** (1 / power) - 1
    up = 1 - (2 * (1 - u) + 2 * (u - 0.5) * (1 - (above - old) / width) ** power).clamp_min(0) ** (1 / power)
    moved = old + torch.where(u <= 0.5, down, up) * width
    return torch.where(mutate & (above > below), torch.clamp(moved, below, above), old).to(latents.dtype)


def _spread(beta: Tensor, u: Tensor, eta: float) -> Tensor:
    """The factor by which children stand apart, so that none of them leaves the bounds."""
    alpha = 2 - beta ** -(eta + 1)
    inner, outer = u * alpha, 1 / (2 - u * alpha)
    return torch.where(u <= 1 / alpha, inner, outer) ** (1 / (eta + 1))
