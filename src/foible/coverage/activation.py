"""Neuron coverage (NC): units that are, for some input, high among their layer.

Pei, Cao, Yang and Jana, DeepXplore, SOSP 2017.

1. Each input's values of a layer are scaled so that the smallest is 0 and the largest 1.
2. A unit's value is the mean of its scaled map.
3. It is covered if that exceeds the threshold for at least one input.

The mean of scaled values is the scaled mean, so no scaled map is ever made. A layer that is constant for an input
covers nothing. The slope of a scaled value is that of the unit and of both extremes: most units that are left open are
reached by lowering what is above them.

Differs from others in: "dnn-tip" does not scale; "nlc" takes channel means first and scales those, which differs on
maps. DeepXplore's and DeepHunter's treatment of a constant layer comes to the same for thresholds from 0 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.cells import Reach

TEMPERATURE = 0.1  # of a value in [0, 1]: how much counts as one step of the objective


@dataclass(eq=False)
class NC(Reach):
    """Neuron coverage.

    Args:
        threshold: in [0, 1) of the layer's range; at 0 nearly everything is covered at once.
    """

    threshold: float = 0.5

    name, title = "nc", "neuron coverage"
    modes: ClassVar[tuple[str, ...]] = ("deepxplore", "deephunter", "dnn-tip", "nlc")

    def prepare(self) -> None:
        """One cell for each unit."""
        self.cells = self.profile.scope.units
        scaled = self.compat != "dnn-tip"
        if scaled:
            self.at_least("threshold", self.threshold, 0)
        self.threshold_of = torch.full((self.cells,), self.threshold, dtype=self.profile.low.dtype)
        spread = self.profile.spread
        self.scale = torch.full_like(spread, TEMPERATURE) if scaled else spread.where(spread > 0, 1)

    def reach(self, batch: Batch) -> Tensor:
        """Scaled values."""
        if self.compat == "dnn-tip":
            return batch.values
        low, high = batch.low, batch.high
        if self.compat == "nlc":
            means = [batch.values[:, s] for s in batch.scope.slices]
            low, high = torch.stack([m.amin(1) for m in means], 1), torch.stack([m.amax(1) for m in means], 1)
        layer = batch.scope.layer_of
        span = high - low
        scaled = (batch.values - low[:, layer]) / span[:, layer]
        return scaled if bool((span > 0).all()) else scaled.where(span[:, layer] > 0, -torch.inf)

    def describe(self, obligation: int) -> str:
        """Which unit."""
        return f"{self.profile.scope.unit_name(obligation)} above {self.threshold:g} of its layer's range"
