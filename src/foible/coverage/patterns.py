"""Top-k neuron patterns (TKNP): in how many ways the k most active units of every layer come together.

Ma et al., DeepGauge, ASE 2018. A pattern is, for one input, the set of the k largest units of each layer, over all
layers. The value is the number of different patterns, not a share; it grows with the suite and has no top.

A pattern is kept as a 64-bit hash (among a million patterns two coincide with a chance of 3 in 100 million), 8 bytes
for each. "nlc" takes the order of the k into account, as that tool means to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.criterion import Aiming, LayerCriterion, Obligations
from foible.coverage.hashing import mixed
from foible.coverage.ranks import top, tops
from foible.coverage.surrogates import mean_of_aims, short_of
from foible.types import State


@dataclass(eq=False)
class TKNP(LayerCriterion):
    """Top-k neuron patterns.

    Args:
        k: how many of each layer.
    """

    k: int = 3

    name, title, measure = "tknp", "top-k neuron patterns", "count"
    modes: ClassVar[tuple[str, ...]] = ("nlc",)

    def prepare(self) -> None:
        """Check k."""
        self.at_least("k", self.k, 1)

    def empty(self) -> State:
        """No pattern."""
        return {"seen": torch.empty(0, dtype=torch.int64)}

    def note(self, batch: Batch) -> State:
        """The hash of each input's pattern (N,)."""
        return {"pattern": self._hashed(batch)}

    def _hashed(self, batch: Batch) -> Tensor:
        ordered = self.compat == "nlc"
        total = torch.zeros(len(batch), dtype=torch.int64)
        for part, columns in zip(batch.scope.slices, tops(batch, self.k, ordered=ordered), strict=True):
            unit = part.start + columns
            total += mixed(unit * self.k + torch.arange(unit.shape[1]) if ordered else unit).sum(1)
        return total

    def add(self, state: State, notes: State) -> None:
        """Keep the patterns, sorted."""
        state["seen"] = torch.cat([state["seen"], notes["pattern"]]).unique()

    def gains(self, state: State, notes: State, alone: bool = False) -> Tensor:
        """1 for a new pattern."""
        pattern = notes["pattern"]
        new = ~is_in(pattern, state["seen"])
        if not alone:
            order = pattern.argsort(stable=True)
            again = torch.zeros_like(new)
            again[order[1:]] = pattern[order[1:]] == pattern[order[:-1]]
            new &= ~again
        return new.to(torch.int64)

    def merged(self, one: State, other: State) -> State:
        """Patterns seen by either."""
        return {"seen": torch.cat([one["seen"], other["seen"]]).unique()}

    def value(self, state: State | None = None) -> float:
        """How many patterns."""
        return float(len((self.state if state is None else state)["seen"]))

    def per_layer(self, state: State | None = None) -> Tensor:  # noqa: ARG002
        """Unknown: a pattern is of the whole network."""
        return torch.full((len(self.profile.scope.layers),), torch.nan)

    def obligations(self, state: State | None = None) -> Obligations:  # noqa: ARG002
        """None that could be listed: what can be aimed at depends on where one is, and is given by layer."""
        none = torch.empty(0, dtype=torch.int64)
        return Obligations(none, none, none, none)

    def _swap(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Of each layer the last unit at the top and the first below it, two of (N, layers); -1 in narrow layers."""
        inner, outer = [], []
        for part in self.profile.scope.slices:
            if part.stop - part.start <= self.k:
                inner.append(torch.full((len(values),), -1))
                outer.append(inner[-1])
                continue
            order = part.start + top(values[:, part], self.k + 1, ordered=True)
            inner.append(order[:, -2])
            outer.append(order[:, -1])
        return torch.stack(inner, 1), torch.stack(outer, 1)

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """In each layer, how far the first two units beyond rank k are from changing places, if that is a new pattern."""
        values = batch.values.detach().cpu()
        inner, outer = self._swap(values)
        gap = self._apart(values, inner, outer)
        if self.compat == "nlc":
            fresh = torch.ones_like(gap, dtype=torch.bool)
        else:
            changed = self._hashed(batch)[:, None] - mixed(inner) + mixed(outer)
            fresh = ~is_in(changed, state["seen"])
        return torch.arange(gap.shape[1]).expand(gap.shape), torch.where(fresh & (inner >= 0), gap, torch.inf)

    def _apart(self, values: Tensor, inner: Tensor, outer: Tensor) -> Tensor:
        span = self.profile.span.where(self.profile.span > 0, 1)
        there = values.gather(1, inner.clamp_min(0)) - values.gather(1, outer.clamp_min(0))
        return there / span[outer.clamp_min(0)]

    def distance(self, aiming: Aiming) -> Tensor:
        """How far the two units at the edge of the top are from changing places, in the layers aimed at."""
        inner, outer = self._swap(aiming.base.values.detach())
        apart = self._apart(aiming.batch.values, inner, outer)
        return mean_of_aims(short_of(apart.gather(1, aiming.aims.clamp_min(0))), aiming.aims)

    def reached(self, aiming: Aiming) -> Tensor:
        """Whether an input shows a pattern that nothing before it did."""
        pattern = self._hashed(aiming.batch)
        new = ~is_in(pattern, aiming.state["seen"]) & (pattern != self._hashed(aiming.base))
        return new[:, None].expand(aiming.aims.shape)

    def describe(self, obligation: int) -> str:
        """Which layer."""
        return f"another {self.k} largest units in {self.profile.scope.layers[obligation]}"


def is_in(numbers: Tensor, ranked: Tensor) -> Tensor:
    """Which numbers occur in an ascending list."""
    if not len(ranked):
        return torch.zeros_like(numbers, dtype=torch.bool)
    place = torch.searchsorted(ranked, numbers.contiguous()).clamp_max(len(ranked) - 1)
    return ranked[place] == numbers
