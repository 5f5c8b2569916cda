"""Criteria whose obligations are cells, each of which an input either hits or not."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.criterion import Aiming, Criterion, Obligations, numbers_where
from foible.coverage.order import Numbers
from foible.coverage.surrogates import aimed, mean_of_aims, short_of
from foible.types import State


@dataclass(eq=False)
class Cells(Criterion):
    """A criterion with a fixed number of cells; `prepare` says how many, of which layers, and which of them count."""

    cells: int = field(init=False, repr=False)

    def layer_of_cells(self) -> Tensor:
        """The layer of each cell (cells,): by default each unit has equally many, side by side."""
        return self.profile.scope.layer_of.repeat_interleave(self.cells // self.profile.scope.units)

    def constant(self) -> Tensor:
        """Cells that are not counted because their unit never varies (cells,)."""
        return torch.zeros(self.cells, dtype=torch.bool)

    def infeasible(self) -> Tensor:
        """Cells that are not counted because they cannot be hit (cells,)."""
        return torch.zeros(self.cells, dtype=torch.bool)

    @property
    def numbers(self) -> int:
        """Every cell has one."""
        return self.cells

    def layers_aimed_at(self, numbers: Tensor) -> Tensor:
        """The layers of the cells."""
        return self.layer_of_cells()[numbers]

    def raised(self, aims: Tensor) -> Tensor:
        """The unit that a cell is of."""
        return aims.clamp_min(0) // (self.cells // self.profile.scope.units)

    @abstractmethod
    def covered(self, state: State) -> Tensor:
        """Which cells have been hit (cells,)."""

    @abstractmethod
    def hits(self, notes: State) -> list[Numbers]:
        """For each noted input the numbers of the cells it hits, of those that count."""

    def counted(self) -> Tensor:
        """Which cells count (cells,)."""
        return ~(self.constant() | self.infeasible())

    def value(self, state: State | None = None) -> float:
        """Share of the cells that count which have been hit."""
        counted = self.counted()
        done = self.covered(self.state if state is None else state) & counted
        counts = int(counted.count_nonzero())
        return int(done.count_nonzero()) / counts if counts else float("nan")

    def per_layer(self, state: State | None = None) -> Tensor:
        """The same of each layer."""
        covered = self.covered(self.state if state is None else state)
        return self.join_layers(covered, self.counted(), self.layer_of_cells())

    def obligations(self, state: State | None = None) -> Obligations:
        """All cells, sorted out."""
        covered, counted = self.covered(self.state if state is None else state), self.counted()
        fixed, out = self.constant(), self.infeasible()
        return Obligations(*numbers_where(~covered & counted, covered & counted, fixed, out & ~fixed))


@dataclass(eq=False)
class SparseCells(Cells):
    """Cells of which an input hits a few: notes hold their numbers (N, hits), `self.cells` for none."""

    def empty(self) -> State:
        """Nothing hit; the last place stands for no cell."""
        return {"covered": torch.zeros(self.cells + 1, dtype=torch.bool)}

    def covered(self, state: State) -> Tensor:
        """Which cells have been hit."""
        return state["covered"][:-1]

    def add(self, state: State, notes: State) -> None:
        """Mark the cells."""
        state["covered"].index_fill_(0, in_memory_order(notes["cells"]), True)
        state["covered"][-1] = False

    def hits(self, notes: State) -> list[Numbers]:
        """The numbers in the notes."""
        counted = torch.cat([self.counted(), torch.tensor([False])])
        return [row[counted[row]].numpy() for row in notes["cells"]]

    def gains(self, state: State, notes: State, alone: bool = False) -> Tensor:
        """How many new cells each input hits."""
        known = state["covered"].clone()
        known[-1] = True
        known[:-1] |= ~self.counted()
        return newly_hit(notes["cells"], known, alone)

    def reached(self, aiming: Aiming) -> Tensor:
        """Whether the cells aimed at are among those hit."""
        return (self.note(aiming.batch)["cells"][:, :, None] == aiming.aims[:, None, :].cpu()).any(1)

    def merged(self, one: State, other: State) -> State:
        """Cells hit by either."""
        return {"covered": one["covered"] | other["covered"]}


@dataclass(eq=False)
class Reach(Cells):
    """Cells that are hit by going far enough: only the farthest that any input went is remembered.

    The threshold is no part of the memory: what was seen once can be read at any threshold.
    """

    threshold_of: Tensor = field(init=False, repr=False)  # (cells,)
    scale: Tensor = field(init=False, repr=False)  # (cells,): in what units a gap is measured
    inclusive: bool = field(init=False, repr=False, default=False)

    @abstractmethod
    def reach(self, batch: Batch) -> Tensor:
        """How far each input goes towards each cell (N, cells); differentiable."""

    def empty(self) -> State:
        """No input yet."""
        return {"farthest": torch.full((self.cells,), -torch.inf, dtype=self.profile.low.dtype)}

    def hit(self, reach: Tensor) -> Tensor:
        """Whether this is far enough."""
        return reach >= self.threshold_of if self.inclusive else reach > self.threshold_of

    def covered(self, state: State) -> Tensor:
        """Which cells some input has hit."""
        return self.hit(state["farthest"])

    def note(self, batch: Batch) -> State:
        """How far each input goes."""
        return {"reach": self.reach(batch).detach().cpu()}

    def add(self, state: State, notes: State) -> None:
        """Keep the farthest."""
        if len(notes["reach"]):
            torch.maximum(state["farthest"], notes["reach"].amax(0), out=state["farthest"])

    def hits(self, notes: State) -> list[Numbers]:
        """The cells that each input goes far enough for."""
        return [row.nonzero()[:, 0].numpy() for row in self.hit(notes["reach"]) & self.counted()]

    def gains(self, state: State, notes: State, alone: bool = False) -> Tensor:
        """How many new cells each input hits."""
        fresh = self.hit(notes["reach"]) & ~self.covered(state) & self.counted()
        if not alone:
            fresh &= fresh.cumsum(0) == 1
        return fresh.sum(1)

    def merged(self, one: State, other: State) -> State:
        """The farther of the two."""
        return {"farthest": torch.maximum(one["farthest"], other["farthest"])}

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """How much farther each input would have to go."""
        reach = self.reach(batch)
        gap = (self.threshold_of - reach) / self.scale
        closed = self.covered(state) | ~self.counted() | self.hit(reach) | ~reach.isfinite()
        return torch.arange(self.cells).expand(gap.shape), torch.where(closed, torch.inf, gap)

    def reached(self, aiming: Aiming) -> Tensor:
        """Whether the inputs go far enough."""
        return self.hit(self.reach(aiming.batch)).gather(1, aiming.aims.clamp_min(0))

    def distance(self, aiming: Aiming) -> Tensor:
        """How much farther, as a soft hinge."""
        gap = (self.threshold_of - self.reach(aiming.batch)) / self.scale
        return mean_of_aims(short_of(aimed(gap, aiming.aims)), aiming.aims)


def newly_hit(cells: Tensor, known: Tensor, alone: bool) -> Tensor:
    """How many cells that are not known each row of cell numbers (N, C) hits (N,).

    One row after the other unless `alone`: a cell counts for the first row that hits it. No cell comes twice in a row.
    """
    entries, count = in_memory_order(cells), len(cells)
    by_column = cells.stride(0) == 1
    new = ~known[entries]
    if not alone:
        # numpy keeps the last of several values assigned to one place: backwards, that is the first row
        numbers, row = entries.numpy(), np.arange(count, dtype=np.min_scalar_type(count))
        rows = np.tile(row, len(numbers) // max(count, 1)) if by_column else row.repeat(cells.shape[1])
        owner = np.empty(len(known), dtype=row.dtype)
        owner[numbers[::-1]] = rows[::-1]
        new &= torch.from_numpy(owner[numbers] == rows)
    return new.view(cells.shape[1], count).sum(0) if by_column else new.view(cells.shape).sum(1)


def in_memory_order(table: Tensor) -> Tensor:
    """All entries of a table (N, C), column by column where that is how it lies in memory."""
    return table.T.reshape(-1) if table.stride(0) == 1 else table.reshape(-1)
