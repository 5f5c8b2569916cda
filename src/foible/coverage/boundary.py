"""Neuron boundary coverage (NBC) and strong neuron activation coverage (SNAC): units driven out of their usual range.

Ma et al., DeepGauge, ASE 2018. l, h, s: smallest, largest value and standard deviation of a unit on ordinary data.

1. The upper corner of a unit is covered by a value above h + m s, the lower one by a value below l - m s (strictly).
2. NBC is the share of corners covered, SNAC that of upper corners.

Corners beyond the bounds of a layer (below 0 after a ReLU) are infeasible and not counted. A unit that never varied
still has corners.

Differs from others in: "dnn-tip" takes <= and >=, by which every silent ReLU covers its lower corner, and counts
infeasible corners. "deephunter" cuts what lies beyond a corner into slices of a thousandth of the range, whatever m is;
both corners share their slices, while the total counts them twice. "nlc" is strict, without m, and counts infeasible
corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.cells import Reach


@dataclass(eq=False)
class NBC(Reach):
    """Neuron boundary coverage.

    Args:
        multiplier: how many standard deviations beyond the range a corner begins.
    """

    multiplier: float = 0.0

    name, title = "nbc", "neuron boundary coverage"
    modes: ClassVar[tuple[str, ...]] = ("dnn-tip", "nlc")
    sides: ClassVar[tuple[int, ...]] = (-1, 1)  # lower and upper corner

    def prepare(self) -> None:
        """One cell for each corner: the lower and the upper one of a unit side by side."""
        self.at_least("multiplier", self.multiplier, 0)
        profile, beyond = self.profile, self.multiplier * self.profile.spread
        self.cells, self.inclusive = profile.scope.units * len(self.sides), self.compat == "dnn-tip"
        edges = {-1: -(profile.low - beyond), 1: profile.high + beyond}
        self.threshold_of = torch.stack([edges[side] for side in self.sides], 1).flatten()
        span = profile.span.where(profile.span > 0, 1)
        self.scale = span.repeat_interleave(len(self.sides))

    def reach(self, batch: Batch) -> Tensor:
        """Values towards the upper corner, and negated towards the lower one."""
        return torch.stack([side * batch.values for side in self.sides], 2).flatten(1)

    def infeasible(self) -> Tensor:
        """Corners that lie at or beyond the bounds of their layer."""
        if self.compat != "none":
            return super().infeasible()
        low, high = self.profile.scope.limits
        farthest = {-1: -low, 1: high}
        return torch.stack([farthest[side] for side in self.sides], 1).flatten() <= self.threshold_of

    def describe(self, obligation: int) -> str:
        """Which corner of which unit."""
        unit, side = divmod(obligation, len(self.sides))
        edge = float(self.threshold_of[obligation]) * self.sides[side]
        return f"{self.profile.scope.unit_name(unit)} {'below' if self.sides[side] < 0 else 'above'} {edge:.4g}"


@dataclass(eq=False)
class SNAC(NBC):
    """Strong neuron activation coverage: upper corners only.

    Args:
        multiplier: how many standard deviations beyond the range a corner begins.
    """

    name, title = "snac", "strong neuron activation coverage"
    sides: ClassVar[tuple[int, ...]] = (1,)
