"""Boundary coverage as DeepHunter counts it: slices beyond the range instead of corners.

Xie et al., DeepHunter, ISSTA 2019, as its published code has it:

1. A slice is a thousandth of the unit's range, or 0.05 where that is nothing.
2. Outside the range, a value covers the slice it lies in: k of them, and one for all beyond.
3. A value below the range covers the *same* slices as one above it, while the total of NBC counts them for both sides:
   it cannot exceed one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.cells import SparseCells
from foible.coverage.criterion import Aiming
from foible.coverage.surrogates import aimed, mean_of_aims, outside
from foible.types import State

PARTS = 1000  # slices in the width of a unit's range
WITHOUT_RANGE = 0.05  # width of a slice where the unit never varied


@dataclass(eq=False)
class SlicedSNAC(SparseCells):
    """DeepHunter's strong neuron activation coverage.

    Args:
        k: slices beyond the range, and one more for all that lies farther out.
    """

    k: int = 10

    name, title = "snac-slices", "strong neuron activation coverage in DeepHunter's slices"
    sides: ClassVar[tuple[int, ...]] = (1,)

    def prepare(self) -> None:
        """k + 1 cells for each unit and side."""
        self.at_least("k", self.k, 1)
        self.cells = self.profile.scope.units * (self.k + 1) * len(self.sides)
        self.within_cap(self.cells, f"{self.cells:,} slices", "lower k")

    def _beyond(self, values: Tensor) -> Tensor:
        """How many slices beyond the range (N, units); negative inside."""
        profile, width = self.profile, self.profile.span / PARTS
        above, below = values - profile.high, profile.low - values
        return (torch.maximum(above, below) if len(self.sides) > 1 else above) / width.where(width > 0, WITHOUT_RANGE)

    def note(self, batch: Batch) -> State:
        """The slice of each unit that each input hits (N, units)."""
        beyond = self._beyond(batch.values.detach().cpu())
        first = torch.arange(self.profile.scope.units) * (self.k + 1) * len(self.sides)
        cells = first + beyond.clamp(0, self.k).to(torch.int64)
        return {"cells": torch.where(beyond > 0, cells, self.cells)}

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """How far each input is from the nearest open slice of each unit."""
        per_unit = self.covered(state).view(self.profile.scope.units, -1)[:, : self.k + 1]
        first_open = per_unit.to(torch.int8).argmin(1)
        cells = torch.arange(self.profile.scope.units) * (self.k + 1) * len(self.sides) + first_open
        gap = (first_open - self._beyond(batch.values)).abs() / PARTS
        return cells.expand(gap.shape), torch.where(per_unit.all(1), torch.inf, gap)

    def distance(self, aiming: Aiming) -> Tensor:
        """Distance to the slice aimed at, in widths of the unit's range."""
        each = (self.k + 1) * len(self.sides)
        unit, slice_ = aiming.aims.clamp_min(0) // each, aiming.aims.clamp_min(0) % each
        beyond = aimed(self._beyond(aiming.batch.values), unit)
        gap = ((beyond - slice_ - 0.5).abs() - 0.5).clamp_min(0)
        return mean_of_aims(outside(gap / PARTS), aiming.aims)

    def describe(self, obligation: int) -> str:
        """Which slice of which unit."""
        unit, slice_ = divmod(obligation, (self.k + 1) * len(self.sides))
        return f"{self.profile.scope.unit_name(unit)} beyond its range, slice {slice_}"


@dataclass(eq=False)
class SlicedNBC(SlicedSNAC):
    """DeepHunter's neuron boundary coverage.

    Args:
        k: slices beyond the range, and one more for all that lies farther out.
    """

    name, title = "nbc-slices", "neuron boundary coverage in DeepHunter's slices"
    sides: ClassVar[tuple[int, ...]] = (-1, 1)
