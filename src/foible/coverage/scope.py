"""What is measured: which layers, what counts as a unit, and where in a layer values are read.

A convolution's channel or each of its positions, before or after the activation function, with or without the
logits: published tools differ in all three, so a coverage figure means nothing without its scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from foible.errors import RecipeError, did_you_mean

Unit = Literal["channel", "element"]
Where = Literal["pre", "post"]
UNBOUNDED = (float("-inf"), float("inf"))


@dataclass(frozen=True)
class Scope:
    """The layers measured, in the order in which data flows, and how their values are read.

    Args:
        layers: names.
        widths: units of each layer.
        unit: "channel" (spatial mean) or "element" (every position).
        where: "pre" or "post" the activation function; only said here, whoever records must see to it.
        bounds: what each layer's values cannot leave, as (0, inf) after a ReLU; left out: nothing is known.
        trace: the layers by which surprise is measured; left out: the last but one.
        classes: how many classes the classifier tells apart.
    """

    layers: tuple[str, ...]
    widths: tuple[int, ...]
    unit: Unit = "channel"
    where: Where = "pre"
    bounds: tuple[tuple[float, float], ...] = ()
    trace: tuple[str, ...] = ()
    classes: int = 0

    def __post_init__(self) -> None:
        if not self.layers:
            raise RecipeError("no layers to measure", "name at least one layer")
        if len(self.layers) != len(self.widths) or min(self.widths) < 1:
            raise RecipeError(
                f"{len(self.layers)} layers but widths {list(self.widths)}", "give each layer its number of units"
            )
        if self.bounds and len(self.bounds) != len(self.layers):
            raise RecipeError(f"{len(self.layers)} layers but {len(self.bounds)} bounds", "give each layer its bounds")
        for name in self.trace:
            if name not in self.layers:
                raise RecipeError(f"no layer '{name}' is measured", did_you_mean(name, self.layers))

    @property
    def units(self) -> int:
        """How many units all layers have."""
        return sum(self.widths)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where each layer's units lie among all units."""
        ends = torch.tensor(self.widths).cumsum(0).tolist()
        return tuple(slice(end - width, end) for end, width in zip(ends, self.widths, strict=True))

    @cached_property
    def layer_of(self) -> Tensor:
        """The layer's number for each unit (units,)."""
        return torch.repeat_interleave(torch.arange(len(self.widths)), torch.tensor(self.widths))

    @cached_property
    def limits(self) -> tuple[Tensor, Tensor]:
        """The bounds of each unit, two of (units,)."""
        low, high = torch.tensor(self.bounds or (UNBOUNDED,) * len(self.layers)).T
        return low[self.layer_of], high[self.layer_of]

    @cached_property
    def traced(self) -> Tensor:
        """The units of the trace layers (width of the trace,)."""
        names = self.trace or self.layers[-2:-1] or self.layers
        chosen = [self.slices[self.layers.index(name)] for name in names]
        return torch.cat([torch.arange(s.start, s.stop) for s in chosen])

    def unit_name(self, unit: int) -> str:
        """A unit for people: layer and number in it."""
        layer = int(self.layer_of[unit])
        return f"{self.layers[layer]}[{unit - self.slices[layer].start}]"

    def __str__(self) -> str:
        said = {"channel": "a channel is a unit", "element": "every position is a unit"}[self.unit]
        place = {"pre": "before", "post": "after"}[self.where]
        return f"{self.units:,} units of {len(self.layers)} layers, {said}, {place} the activation function"
