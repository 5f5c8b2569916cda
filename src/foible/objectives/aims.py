"""Units chosen as DeepXplore and DLFuzz do, whose output is then raised: the published rule, and the control of any unit.

DLFuzz's strategies, with their traps put right: before anything is covered 0 and 1 choose at random among all units; where
all counts are equal 1 does too (published, it divides by zero); 3 does not overwrite the others, and takes any layer.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from foible.coverage import Batch, Criterion
from foible.coverage.activation import NC
from foible.coverage.hashing import mixed
from foible.errors import RecipeError, did_you_mean
from foible.types import State

Chooses = Literal[
    "cheapest", "random", "rarest", "published", "often", "rarely", "heavy", "near", "unit", "gain"
]  # fmt: skip
OBLIGATIONS = ("cheapest", "random", "rarest")
BY_COUNT = ("often", "rarely", "near")  # strategies that know only whether a unit is covered: those of neuron coverage
BY_UNIT = ("published", "often", "rarely", "heavy", "near", "unit")
ABOVE, BELOW = 0.25, 0.2  # how near the threshold is near
TENTH = 10
DOWN = 1 << 40  # added to the number of a unit whose output is to be lowered


class Choice(NamedTuple):
    """How units are chosen, and for which criterion."""

    chooses: str
    criterion: str

    def refuse_unfit(self) -> None:
        """Name a way of choosing that there is not, or that does not go with the criterion."""
        known = (*OBLIGATIONS, *BY_UNIT, "gain")
        if self.chooses not in known:
            raise RecipeError(f"objective covering: chooses = '{self.chooses}'", did_you_mean(self.chooses, known))
        if self.chooses in BY_COUNT and self.criterion != "nc":
            raise RecipeError(
                f"objective covering: chooses = '{self.chooses}' counts which units neuron coverage covers, the criterion "
                f"is '{self.criterion}'",
                'criterion = "nc", or chooses = "cheapest"',
            )


def chosen_units(
    choice: Choice, criterion: Criterion, batch: Batch, count: int, salt: Tensor, state: State, shared: State
) -> Tensor:
    """The units whose output is to be raised (N, count); -1 where too few fit."""
    if choice.chooses == "published":
        aims = criterion.aim(batch, count, "random", salt, state)
        return torch.where(aims >= 0, criterion.raised(aims), -1)
    units = batch.scope.units
    dice = _uniform(salt, units)
    if choice.chooses == "near":
        assert isinstance(criterion, NC)
        return _near(criterion, batch, count)
    weights = torch.ones(units, dtype=torch.float64)
    if choice.chooses in BY_COUNT and bool(shared["times"].any()):
        times = shared["times"].double()
        weights = times if choice.chooses == "often" else times.max() - times
    elif choice.chooses == "heavy":
        weights = torch.zeros_like(weights)
        weights[shared["weights"].topk(max(count, units // TENTH)).indices] = 1
    weights = weights if bool((weights > 0).any()) else torch.ones_like(weights)
    # a choice with these chances, without putting back: the largest of u^(1/w) (Efraimidis and Spirakis 2006)
    keys = torch.where(weights > 0, dice.log() / weights.clamp_min(1e-12), -torch.inf)
    best, place = keys.topk(min(count, units))
    return _padded(torch.where(best.isfinite(), place, -1), count)


def _uniform(salt: Tensor, units: int) -> Tensor:
    """A number in (0, 1) for each input and unit (N, units), that depends on the input's salt alone."""
    return ((mixed(torch.arange(units) + salt[:, None]) >> 11) & ((1 << 52) - 1)).double().add(0.5) / 2**52


def _near(criterion: NC, batch: Batch, count: int) -> Tensor:
    """The first units within reach of the threshold; those below it are pushed down, as published."""
    there = criterion.reach(batch).detach() - criterion.threshold_of
    wanted = (there < ABOVE) & (there > -BELOW)
    order = torch.where(wanted, torch.arange(there.shape[1]), there.shape[1])
    first = order.topk(min(count, there.shape[1]), largest=False).values
    inside = first < there.shape[1]
    low = there.gather(1, first.clamp_max(there.shape[1] - 1)) <= 0
    return _padded(torch.where(inside, first + DOWN * low, -1), count)


def _padded(aims: Tensor, count: int) -> Tensor:
    return torch.nn.functional.pad(aims, (0, count - aims.shape[1]), value=-1)


def unit_distance(criterion: Criterion, values: Tensor, aims: Tensor) -> Tensor:
    """Minus the mean output of the units aimed at (N,), in standard deviations; plus where they are to be lowered."""
    real, unit = aims >= 0, aims.clamp_min(0) % DOWN
    spread = criterion.profile.spread
    sign = torch.where(aims >= DOWN, 1.0, -1.0).to(values.dtype)
    terms = sign * values.gather(1, unit) / spread.where(spread > 0, 1).to(values.dtype)[unit]
    return torch.where(real, terms, 0).sum(1) / real.sum(1).clamp_min(1)
