"""k-multisection neuron coverage (kMNC): how much of each unit's usual range is visited.

Ma et al., DeepGauge, ASE 2018. l, h: smallest and largest value of a unit on ordinary data.

1. [l, h] is cut into k sections of equal width.
2. An input covers, of each unit, the section its value lies in: min(floor((z - l) k / (h - l)), k - 1); none outside.
3. kMNC is the share of sections covered. A unit with h = l has no sections and is counted apart.

Differs from others in the edges (tables in docs/coverage.md): "dnn-tip" leaves h out, "nlc" leaves l out and gives an
inner edge to the section below it; both, and "deephunter", count the sections of constant units.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.cells import SparseCells
from foible.coverage.criterion import Aiming
from foible.coverage.surrogates import aimed, mean_of_aims, outside
from foible.types import State

BLOCK = 1 << 17  # values worked on at a time: as many as stay in the processor's cache


@dataclass(eq=False)
class KMNC(SparseCells):
    """k-multisection neuron coverage.

    Args:
        k: sections of each unit.
    """

    k: int = 100
    _offset: Tensor = field(init=False, repr=False)

    name, title = "kmnc", "k-multisection neuron coverage"
    modes: ClassVar[tuple[str, ...]] = ("dnn-tip", "nlc", "deephunter")

    def prepare(self) -> None:
        """k cells for each unit."""
        self.at_least("k", self.k, 1)
        units = self.profile.scope.units
        self.cells = units * self.k
        self.within_cap(self.cells, f"{units:,} units x {self.k:,} sections", 'lower k, or measure unit="channel"')
        self._offset = (torch.arange(units) * self.k).unsqueeze(1)

    def note(self, batch: Batch) -> State:
        """The cell of each unit that each input hits (N, units), one unit after the other in memory."""
        values, profile = batch.values.detach().cpu(), self.profile
        cells = torch.empty(values.shape[1], len(values), dtype=torch.int64)
        step = max(1, BLOCK // max(len(values), 1))
        for start in range(0, len(cells), step):
            part = slice(start, start + step)
            low, high = profile.low[part, None], profile.high[part, None]
            section, inside = self._sections(values[:, part].T.contiguous(), low, high)
            cells[part] = torch.where(inside, section.to(torch.int64) + self._offset[part], self.cells)
        return {"cells": cells.T}

    def _sections(self, z: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The section (units, N) of each value, and whether it is in one."""
        inside = (z >= torch.where(high > low, low, torch.inf)) & (z <= high)  # nothing is inside a constant unit
        if self.compat == "nlc":
            number = torch.ceil((z - low) / (high - low) * self.k).nan_to_num_(0)  # from 1 on
            return (number - 1).clamp_(max=self.k - 1), inside & (number >= 1)
        section = (z - low).mul_(self.k).div_(high - low).floor_().nan_to_num_(0).clamp_(0, self.k - 1)
        if self.compat == "dnn-tip":
            edge = (high - low) / self.k
            section -= (z < low + edge * section).to(section.dtype)
            section += (z >= low + edge * (section + 1)).to(section.dtype)
            inside &= (section >= 0) & (section < self.k)
        return section, inside

    def constant(self) -> Tensor:
        """The sections of units that never vary."""
        fixed = self.profile.constant if self.compat == "none" else torch.zeros_like(self.profile.constant)
        return fixed.repeat_interleave(self.k)

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """Of each unit the nearest open section below or above the one it is in, in shares of the unit's range."""
        place = torch.arange(self.k)
        is_open = ~self.covered(state).view(-1, self.k) & ~self.profile.constant[:, None]
        below = torch.where(is_open, place, -1).cummax(1).values
        above = torch.where(is_open, place, 2 * self.k).flip(1).cummin(1).values.flip(1)
        span = self.profile.span.where(~self.profile.constant, 1)
        where = (batch.values - self.profile.low) / span * self.k
        section = where.floor().clamp(0, self.k - 1).to(torch.int64).T
        here = ((where >= 0) & (where <= self.k)).to(torch.int64).T  # outside its range a unit is in no section
        nothing = torch.full_like(below[:, :1], -1)
        down = torch.cat([nothing, below], 1).gather(1, section + 1 - here).T
        up = torch.cat([above, nothing + 2 * self.k + 1], 1).gather(1, section + here).T
        down_gap = torch.where(down >= 0, (where - down - 1).clamp_min(0), torch.inf) / self.k
        up_gap = torch.where(up < self.k, (up - where).clamp_min(0), torch.inf) / self.k
        chosen = torch.where(down_gap <= up_gap, down, up)
        return chosen + self._offset.T, torch.minimum(down_gap, up_gap)

    def distance(self, aiming: Aiming) -> Tensor:
        """Distance to the section aimed at, up or down, in shares of the unit's range; nothing inside it."""
        unit, section = aiming.aims.clamp_min(0) // self.k, aiming.aims.clamp_min(0) % self.k
        span = self.profile.span.where(~self.profile.constant, 1)
        where = (aimed(aiming.batch.values, unit) - self.profile.low[unit]) / span[unit]
        middle = (section + 0.5) / self.k
        gap = ((where - middle).abs() - 0.5 / self.k).clamp_min(0)
        return mean_of_aims(outside(gap), aiming.aims)

    def describe(self, obligation: int) -> str:
        """Which section of which unit."""
        unit, section = divmod(obligation, self.k)
        width = float(self.profile.span[unit]) / self.k
        low = float(self.profile.low[unit]) + section * width
        return f"{self.profile.scope.unit_name(unit)} in [{low:.4g}, {low + width:.4g}]"
