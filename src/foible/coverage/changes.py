"""Sign and value changes between neighbouring layers (SS, SV, VS, VV), after MC/DC of programs.

Sun, Huang, Kroening et al., Testing Deep Neural Networks, 2018. A condition unit i of one layer, a decision unit j of
the next, and two inputs. A unit's sign is whether its value exceeds 0; its value changes if it differs by more than
`change` standard deviations.

    criterion   condition layer                                    decision unit
    SS          only i changes sign                                changes sign
    SV          only i changes sign                                keeps its sign and changes its value
    VS          no unit changes sign, i changes its value          changes sign
    VV          no unit changes sign, i changes its value          keeps its sign and changes its value

Coverage is the share of pairs (i, j) of neighbouring layers that some two inputs of the suite cover.

Each input is compared with examples kept from those before it, at most `examples`: those with the smallest hash; and as
long as there are fewer, with all before it. Of the pairs of inputs that fulfil the condition, at most
`compared` in each batch are looked at, evenly chosen. Below both numbers the result is exact and does not depend on order;
beyond, it is a lower bound. Signs mean little after a ReLU: measure `where="pre"`.

`relaxed` lets up to that share of the condition layer change sign, as DeepConcolic does; each unit that did is then a
condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from foible.coverage.batch import Batch, plain_values
from foible.coverage.cells import Cells
from foible.coverage.criterion import Aiming
from foible.coverage.order import Numbers
from foible.coverage.pairing import Pairing, Rule, kept, no_rows, paired, parted
from foible.coverage.sign_objectives import Wish, pair_objective
from foible.errors import RecipeError
from foible.types import State

NEAREST = 4  # condition units of each layer that are considered as aims


class Matches(NamedTuple):
    """Pairs of inputs that fulfil the condition between two layers."""

    later: Tensor  # (P,) row of the batch
    condition: Tensor  # (P, units of the condition layer): those that changed as wanted
    decision: Tensor  # (P, units of the decision layer): those that changed as wanted


@dataclass(eq=False)
class SS(Cells):
    """Sign-sign coverage.

    Args:
        change: standard deviations by which a changed value must differ.
        examples: inputs kept to compare with.
        compared: pairs of inputs compared for each batch and two layers.
        relaxed: share of the condition layer that may change sign.
    """

    change: float = 1.0
    examples: int = 64
    compared: int = 500
    relaxed: float = 0.0

    name, title = "ss", "sign-sign coverage"
    wish = Wish(condition="sign", decision="sign")

    def prepare(self) -> None:
        """One cell for each pair of units of neighbouring layers."""
        self.at_least("examples", self.examples, 1)
        self.at_least("change", self.change, 0)
        scope = self.profile.scope
        if len(scope.layers) < 2:
            raise RecipeError(f"coverage '{self.name}' compares neighbouring layers, one is measured", "name two")
        self.pairs = list(pairwise(scope.slices))
        sizes = [(a.stop - a.start) * (b.stop - b.start) for a, b in self.pairs]
        self.cells = sum(sizes)
        self.within_cap(self.cells, f"{self.cells:,} pairs of units", "measure narrower layers")
        self.first = [sum(sizes[:p]) for p in range(len(sizes))]
        self.layer_of_cell = torch.repeat_interleave(torch.arange(len(sizes)) + 1, torch.tensor(sizes))
        self.far = self.change * self.profile.spread

    def layer_of_cells(self) -> Tensor:
        """A pair belongs to the layer of its decision."""
        return self.layer_of_cell

    def empty(self) -> State:
        """Nothing covered, no examples."""
        return {
            "covered": torch.zeros(self.cells, dtype=torch.bool),
            "examples": no_rows(self.profile.scope.units, self.profile.low.dtype),
            "dropped": torch.zeros((), dtype=torch.int64),
        }

    def covered(self, state: State) -> Tensor:
        """Which pairs are covered."""
        return state["covered"]

    def note(self, batch: Batch) -> State:
        """The values themselves (N, units)."""
        return {"values": plain_values(batch)}

    def hits(self, notes: State) -> list[Numbers]:  # noqa: ARG002
        """Refused: what an input covers depends on the others."""
        raise RecipeError(f"coverage '{self.name}' is of pairs of inputs: no input covers anything alone")

    def add(self, state: State, notes: State) -> None:
        """Mark what the inputs cover together with the examples and with each other, and keep examples."""
        for values in self._stages(state, notes["values"]):
            state["covered"] |= self._hits(state["examples"], values, state["covered"])
            state["examples"], dropped = kept(state["examples"], values, self.examples)
            state["dropped"] = state["dropped"] + dropped

    def _stages(self, state: State, values: Tensor) -> tuple[Tensor, ...]:
        """First those that are kept whatever they are, then the rest."""
        room = self.examples - len(state["examples"])
        return parted(values, room) if 0 < room < len(values) else (values,)

    def merged(self, one: State, other: State) -> State:
        """What either covers, and what their examples cover together."""
        covered = one["covered"] | other["covered"]
        examples, dropped = kept(one["examples"], other["examples"], self.examples)
        covered |= self._hits(one["examples"], other["examples"], covered)
        return {"covered": covered, "examples": examples, "dropped": one["dropped"] + other["dropped"] + dropped}

    def gains(self, state: State, notes: State, alone: bool = False) -> Tensor:
        """How many new pairs each input covers."""
        now, gained = dict(state), []
        for values in (notes["values"],) if alone else self._stages(state, notes["values"]):
            gained.append(self._gains(now, values, alone))
            now = now if alone else self.merged_with(now, values)
        return torch.cat(gained)

    def merged_with(self, state: State, values: Tensor) -> State:
        """The memory after some more inputs; the one given is left as it is."""
        after = {name: tensor.clone() if name == "covered" else tensor for name, tensor in state.items()}
        self.add(after, {"values": values})
        return after

    def _gains(self, state: State, values: Tensor, alone: bool) -> Tensor:
        gained = torch.zeros(len(values), dtype=torch.int64)
        fresh = self._hits(state["examples"], values, state["covered"], alone) & ~state["covered"]
        for number, (a, b) in enumerate(self.pairs):
            shape = (a.stop - a.start, b.stop - b.start)
            i, j = fresh[self._cells_of(number)].view(shape).nonzero(as_tuple=True)
            if not len(i):
                continue
            times = torch.zeros(len(values), len(i), dtype=torch.int32)
            found = self._matches(state["examples"], values, number, alone)
            times.index_add_(0, found.later, (found.condition[:, i] & found.decision[:, j]).to(torch.int32))
            seen = times > 0
            gained += (seen if alone else seen & (seen.cumsum(0) == 1)).sum(1)
        return gained

    def _cells_of(self, number: int) -> slice:
        a, b = self.pairs[number]
        return slice(self.first[number], self.first[number] + (a.stop - a.start) * (b.stop - b.start))

    def _hits(self, earlier: Tensor, values: Tensor, covered: Tensor, alone: bool = False) -> Tensor:
        """Which pairs of units (cells,) the values cover with earlier ones or, unless alone, with each other."""
        hits = torch.zeros(self.cells, dtype=torch.bool)
        for number in range(len(self.pairs)):
            cells = self._cells_of(number)
            if covered[cells].all():
                continue
            found = self._matches(earlier, values, number, alone)
            hits[cells] = (found.condition.T.float() @ found.decision.float() > 0).flatten()
        return hits

    def _matches(self, earlier: Tensor, values: Tensor, number: int, alone: bool) -> Matches:
        """Pairs of inputs that fulfil the condition between two layers."""
        a, b = self.pairs[number]
        by_sign = self.wish.condition == "sign"
        flips = max(1, int(self.relaxed * (a.stop - a.start))) if by_sign else 0
        alone = alone or len(earlier) >= self.examples
        found = paired(values, earlier, (a.start, a.stop, b.stop), Rule(flips, self.compared), alone)
        condition = found.condition if by_sign else self._moved(earlier, values, found, a)
        if self.wish.decision == "sign":
            return Matches(found.later, condition, found.decision)
        return Matches(found.later, condition, ~found.decision & self._moved(earlier, values, found, b))

    def _moved(self, earlier: Tensor, values: Tensor, found: Pairing, part: slice) -> Tensor:
        """Which units of a layer changed their value (P, units of the layer)."""
        others = torch.cat([earlier[:, part], values[:, part]])
        return (values[found.later, part] - others[found.other]).abs_() > self.far[part]

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """Open pairs whose condition is among the nearest of its layer, and how much has to change for them."""
        span = self.profile.span.where(self.profile.span > 0, 1)
        to_zero, to_move = batch.values.abs() / span, (self.far / span).expand(batch.values.shape)
        condition = to_zero if self.wish.condition == "sign" else to_move
        decision = to_zero if self.wish.decision == "sign" else to_move
        numbers, gap = [], []
        for number, (a, b) in enumerate(self.pairs):
            near, i = condition[:, a].topk(min(NEAREST, a.stop - a.start), largest=False)
            width = b.stop - b.start
            cells = self.first[number] + i[:, :, None] * width + torch.arange(width)
            there = near[:, :, None] + decision[:, None, b]
            numbers.append(cells.flatten(1))
            gap.append(torch.where(state["covered"][cells], torch.inf, there).flatten(1))
        return torch.cat(numbers, 1), torch.cat(gap, 1)

    def units_of(self, cells: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The pair of layers, condition unit and decision unit of cells."""
        number = self.layer_of_cell[cells] - 1
        inside = cells - torch.tensor(self.first)[number]
        width = torch.tensor(self.profile.scope.widths)[number + 1]
        start = torch.tensor([s.start for s in self.profile.scope.slices])
        return number, start[number] + inside // width, start[number + 1] + inside % width

    def raised(self, aims: Tensor) -> Tensor:
        """The unit that decides."""
        return self.units_of(aims.clamp_min(0))[2]

    def reached(self, aiming: Aiming) -> Tensor:
        """Whether an input and the one it began as cover the pair of units aimed at."""
        number, i, j = self.units_of(aiming.aims.clamp_min(0))
        now, start = plain_values(aiming.batch), plain_values(aiming.base)
        flipped, moved = (now > 0) != (start > 0), (now - start).abs() > self.far
        flips = torch.stack([flipped[:, part].sum(1) for part in self.profile.scope.slices], 1).gather(1, number)
        width = torch.tensor(self.profile.scope.widths)[number]
        if self.wish.condition == "sign":
            condition = flipped.gather(1, i) & (flips <= (self.relaxed * width).long().clamp_min(1))
        else:
            condition = moved.gather(1, i) & (flips == 0)
        sign = flipped.gather(1, j)
        return condition & (sign if self.wish.decision == "sign" else ~sign & moved.gather(1, j))

    def distance(self, aiming: Aiming) -> Tensor:
        """How far the inputs are from covering the pairs aimed at together with the inputs they began as."""
        start = aiming.base.values.detach()
        number, i, j = self.units_of(aiming.aims.clamp_min(0))
        return pair_objective(
            self.wish, self.profile, self.far, aiming.batch.values, start, aiming.aims, (number, i, j)
        )

    def describe(self, obligation: int) -> str:
        """Which two units."""
        _, i, j = (int(part[0]) for part in self.units_of(torch.tensor([obligation])))
        return f"{self.profile.scope.unit_name(i)} decides {self.profile.scope.unit_name(j)}"


@dataclass(eq=False)
class SV(SS):
    """Sign-value coverage; the settings are those of sign-sign coverage."""

    name, title = "sv", "sign-value coverage"
    wish = Wish(condition="sign", decision="value")


@dataclass(eq=False)
class VS(SS):
    """Value-sign coverage; the settings are those of sign-sign coverage."""

    name, title = "vs", "value-sign coverage"
    wish = Wish(condition="value", decision="sign")


@dataclass(eq=False)
class VV(SS):
    """Value-value coverage; the settings are those of sign-sign coverage."""

    name, title = "vv", "value-value coverage"
    wish = Wish(condition="value", decision="value")
