"""NeuraL coverage (NLC): how much, and how differently, the units of each layer vary together over a suite.

Yuan, Pang and Wang, Revisiting Neuron Coverage for DNN Testing: A Layer-Wise and Distribution-Aware Criterion, ICSE 2023.
Per layer of m units, C is the covariance of their values over the suite (divided by the number of inputs); NLC is the
sum over layers of the absolute values of C divided by m^2. It has no top and is not a percentage.

`nlc` is exactly this, a function of the set of inputs. `nlc-greedy` is what the published code does: it starts at 1,
takes in a batch, layer by layer, only if that makes C larger, and adds up what was gained. That depends on the order of
the batches and on their size, and two such values cannot be merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor

from foible.coverage.batch import Batch, plain_values
from foible.coverage.criterion import Aiming, LayerCriterion, Obligations
from foible.coverage.moments import Moments, nothing, of_rows
from foible.coverage.scope import Scope
from foible.coverage.surrogates import mean_of_aims
from foible.errors import RecipeError
from foible.types import State


@lru_cache(maxsize=1)  # both criteria below ask for the same
def moments_of(values: Tensor, scope: Scope) -> tuple[Moments, ...]:
    """The moments of each layer's units over a batch (N, units)."""
    return tuple(of_rows(values[:, part], joint=True) for part in scope.slices)


@dataclass(eq=False)
class NLC(LayerCriterion):
    """NeuraL coverage of the set of inputs."""

    name, title, measure = "nlc", "NeuraL coverage", "spread"

    def prepare(self) -> None:
        """See that the covariances fit into memory."""
        size = sum(width * width for width in self.profile.scope.widths) * 8
        self.within_cap(size, "covariances", 'measure narrower layers, or unit="channel"')

    def empty(self) -> State:
        """No inputs."""
        state: State = {}
        for number, width in enumerate(self.profile.scope.widths):
            state |= self._written(number, nothing(width, joint=True))
        return state

    def _written(self, number: int, moments: Moments) -> State:
        return {f"{name}.{number}": tensor for name, tensor in moments._asdict().items()}

    def _moments(self, state: State, number: int) -> Moments:
        return Moments(*(state[f"{name}.{number}"] for name in Moments._fields))

    def note(self, batch: Batch) -> State:
        """The values themselves (N, units)."""
        return {"values": plain_values(batch)}

    def add(self, state: State, notes: State) -> None:
        """Take the inputs into mean and covariance."""
        for number, new in enumerate(moments_of(notes["values"], self.profile.scope)):
            state |= self._written(number, self._moments(state, number).merged(new))

    def gains(self, state: State, notes: State, alone: bool = False) -> Tensor:
        """By how much each input moves the value; it may fall. One after the other takes as many steps as inputs."""
        now, before, gained = dict(state), self.value(state), []
        for row in notes["values"]:
            after = dict(now)
            self.add(after, {"values": row[None]})
            gained.append(self.value(after) - before)
            if not alone:
                now, before = after, before + gained[-1]
        return torch.tensor(gained, dtype=torch.float64)

    def merged(self, one: State, other: State) -> State:
        """Mean and covariance of both sets of inputs."""
        both: State = {}
        for number in range(len(self.profile.scope.layers)):
            both |= self._written(number, self._moments(one, number).merged(self._moments(other, number)))
        return both

    def covariance(self, state: State, number: int) -> Tensor:
        """Of one layer (m, m)."""
        moments = self._moments(state, number)
        return moments.scatter / moments.total.clamp_min(1)

    def per_layer(self, state: State | None = None) -> Tensor:
        """Mean absolute covariance of each layer."""
        chosen = self.state if state is None else state
        layers = range(len(self.profile.scope.layers))
        return torch.stack([self.covariance(chosen, number).abs().mean() for number in layers])

    def value(self, state: State | None = None) -> float:
        """The sum over layers."""
        return float(self.per_layer(state).sum())

    def obligations(self, state: State | None = None) -> Obligations:  # noqa: ARG002
        """Every layer, always."""
        none = torch.empty(0, dtype=torch.int64)
        return Obligations(torch.arange(len(self.profile.scope.layers)), none, none, none)

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """The layers; the one that this input would raise most, in shares of what it has, comes first."""
        rises = torch.stack([self._rise(batch, number, state) for number in range(len(batch.scope.layers))], 1)
        share = rises / self.per_layer(state).clamp_min(1e-12)
        return torch.arange(rises.shape[1]).expand(rises.shape), -share

    def _rise(self, batch: Batch, number: int, state: State) -> Tensor:
        """d' sign(C) d / m^2 (N,): by how much another input like this raises the value of a layer, times their number."""
        part, moments = batch.scope.slices[number], self._moments(state, number)
        apart = batch.values[:, part].double() - moments.mean
        sign = self.covariance(state, number).sign()
        sign.fill_diagonal_(1)
        return ((apart @ sign) * apart).sum(1) / len(sign) ** 2

    def distance(self, aiming: Aiming) -> Tensor:
        """Minus the rise of the layers aimed at, in shares of what they have."""
        rises = torch.stack(
            [self._rise(aiming.batch, number, aiming.state) for number in range(len(aiming.batch.scope.layers))], 1
        )
        share = rises / (1e-12 + self.per_layer(aiming.state)) if self.value(aiming.state) > 0 else rises
        return mean_of_aims(-share.gather(1, aiming.aims.clamp_min(0)), aiming.aims).to(aiming.batch.values.dtype)

    def reached(self, aiming: Aiming) -> Tensor:
        """Whether one more such input would raise the value of the layer, to first order in 1 / inputs."""
        layers = range(len(self.profile.scope.layers))
        rises = torch.stack([self._rise(aiming.batch, number, aiming.state) for number in layers], 1)
        above = rises > NLC.per_layer(self, aiming.state)
        return above.gather(1, aiming.aims.clamp_min(0))

    def describe(self, obligation: int) -> str:
        """Which layer."""
        return f"more spread in {self.profile.scope.layers[obligation]}"


@dataclass(eq=False)
class GreedyNLC(NLC):
    """NeuraL coverage as the published code computes it: batch by batch, in order.

    Args:
        normaliser: "squared" divides by m^2, "none" is the code before 5 November 2024.
    """

    normaliser: Literal["squared", "none"] = "squared"

    name, title = "nlc-greedy", "NeuraL coverage of batches in order"

    def empty(self) -> State:
        """The published code starts at 1."""
        return super().empty() | {"current": torch.ones((), dtype=torch.float64)}

    def add(self, state: State, notes: State) -> None:
        """Take in one batch where it raises a layer's value; a layer that refuses it does not even count its inputs."""
        gain = torch.zeros((), dtype=torch.float64)
        for number, batch in enumerate(moments_of(notes["values"], self.profile.scope)):
            old = self._moments(state, number)
            new = old.merged(batch)
            rise = self._norm(new) - self._norm(old)
            if rise > 0:
                state |= self._written(number, new)
                gain += rise
        state["current"] = state["current"] + gain

    def _norm(self, moments: Moments) -> Tensor:
        size = moments.scatter.abs().sum() / moments.total.clamp_min(1)
        return size / len(moments.mean) ** 2 if self.normaliser == "squared" else size

    def gains(self, state: State, notes: State, alone: bool = False) -> Tensor:
        """Each input as a batch of its own; or what the batch gains, shared evenly."""
        if alone:
            return super().gains(state, notes, alone)
        after = dict(state)
        self.add(after, notes)
        count = len(notes["values"])
        return (after["current"] - state["current"]).expand(count) / max(count, 1)

    def value(self, state: State | None = None) -> float:
        """1 and all gains."""
        return float((self.state if state is None else state)["current"])

    def merged(self, one: State, other: State) -> State:  # noqa: ARG002
        """Refused: the value depends on order."""
        raise RecipeError("coverage 'nlc-greedy' depends on the order of batches and cannot be merged", "use 'nlc'")
