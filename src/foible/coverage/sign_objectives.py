"""How far two inputs are from covering a pair of units, as a number that can be followed downhill.

s, u0: signs and values at the input a search began with; u: values now; r: range of a unit; d: how far a value must
move. "Changes sign" costs hinge(s u / r), "keeps its sign" hinge(-s u / r), "changes its value" hinge((d - s (u - u0)) / d):
away from zero, because the absolute difference has no slope where a search begins.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from foible.coverage.profile import Profile
from foible.coverage.surrogates import mean_of_aims, short_of

KEEP = 0.1  # weight of the units of the condition layer that have to keep their signs


class Wish(NamedTuple):
    """What has to change: the condition's sign or value, the decision's sign or value."""

    condition: Literal["sign", "value"]
    decision: Literal["sign", "value"]


def pair_objective(
    wish: Wish,
    profile: Profile,
    far: Tensor,
    values: Tensor,
    start: Tensor,
    aims: Tensor,
    units: tuple[Tensor, Tensor, Tensor],
) -> Tensor:
    """The mean over aims of how far each input is from what is wished (N,).

    Args:
        wish: what has to change.
        profile: gives the range of each unit.
        far: how far each unit's value must move (units,).
        values: of the inputs (N, units).
        start: of the inputs that they began as (N, units).
        aims: (N, A); -1 for none.
        units: for each aim the pair of layers, the condition unit and the decision unit, three of (N, A).
    """
    number, i, j = units
    sign = torch.where(start > 0, 1.0, -1.0).to(values.dtype)
    span = profile.span.where(profile.span > 0, 1)
    flip, keep = short_of(sign * values / span), short_of(-sign * values / span)
    step = far.where(far > 0, 1)
    move = short_of((step - sign * (values - start)) / step)
    held = torch.stack([keep[:, part].sum(1) for part in profile.scope.slices], 1).gather(1, number)
    if wish.condition == "sign":
        condition = flip.gather(1, i) + KEEP * (held - keep.gather(1, i))
    else:
        condition = move.gather(1, i) + KEEP * held
    decision = flip.gather(1, j) if wish.decision == "sign" else move.gather(1, j) + keep.gather(1, j)
    return mean_of_aims(condition + decision, aims)
