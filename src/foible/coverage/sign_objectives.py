"""How far two inputs are from covering a pair of units, as a number that can be followed downhill.

s, u0: signs and values at the input a search began with; u: values now; r: range of a unit; d: how far a value must
move. Each demand is broken by a gap in ranges: "changes sign" by s u / r, "keeps its sign" by -s u / r, "changes its value" by
(d - way (u - u0)) / r, one way or the other, because the absolute difference has no slope where a search begins. The objective is the sum of the
squares of those that are above zero: all have to hold at once, a hundred units that are to keep their signs among them, and only those that do not hold
may have a say.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from foible.coverage.profile import Profile
from foible.coverage.surrogates import breach, mean_of_aims

SPARE = 1.1  # how many times as far from zero as it has to move a value must be to move that way


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
    flip, keep = breach(sign * values / span), breach(-sign * values / span)
    move = breach((far - ways(profile, far, start) * (values - start)) / span)
    held = torch.stack([keep[:, part].sum(1) for part in profile.scope.slices], 1).gather(1, number)
    condition = flip.gather(1, i) - keep.gather(1, i) if wish.condition == "sign" else move.gather(1, i)
    decision = flip.gather(1, j) if wish.decision == "sign" else move.gather(1, j) + keep.gather(1, j)
    return mean_of_aims(condition + held + decision, aims)


def ways(profile: Profile, far: Tensor, start: Tensor) -> Tensor:
    """Up (1) or down (-1): which way each value (N, units) is to change without changing its sign.

    Towards the unit's mean, where most inputs have it; but away from zero where zero is too near.
    """
    home = torch.where(start > profile.moments.mean.to(start), -1.0, 1.0).to(start)
    sign = torch.where(start > 0, 1.0, -1.0).to(start)
    return torch.where((home == sign) | (start.abs() > SPARE * far), home, sign)
