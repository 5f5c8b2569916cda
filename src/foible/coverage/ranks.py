"""Top-k and bottom-k neuron coverage (TKNC, BKNC): units that are, for some input, among the k largest of their layer.

Ma et al., DeepGauge, ASE 2018. Of equal values the unit with the lowest number goes first. A layer of at most k units
is covered by any input; `wide_only` leaves such layers out.

Differs from others in: "deephunter" counts (unit, rank) instead of units. "dnn-tip" orders equal values as numpy's
argsort happens to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.coverage.batch import Batch, plain_values
from foible.coverage.cells import SparseCells
from foible.coverage.criterion import Aiming
from foible.coverage.surrogates import breach, mean_of_aims
from foible.errors import RecipeError
from foible.types import State


@dataclass(eq=False)
class TKNC(SparseCells):
    """Top-k neuron coverage.

    Args:
        k: how many of each layer.
        wide_only: leave out layers of at most k units.
    """

    k: int = 3
    wide_only: bool = False

    name, title = "tknc", "top-k neuron coverage"
    modes: ClassVar[tuple[str, ...]] = ("dnn-tip", "nlc", "deephunter")
    side: ClassVar[int] = 1

    def prepare(self) -> None:
        """One cell for each unit, or for each unit and rank."""
        self.at_least("k", self.k, 1)
        self.ranked = self.compat == "deephunter"
        self.cells = self.profile.scope.units * (self.k if self.ranked else 1)
        if self.wide_only and max(self.profile.scope.widths) <= self.k:
            raise RecipeError(
                f"coverage '{self.name}': no layer has more than k = {self.k} units",
                f"the widest has {max(self.profile.scope.widths)}: lower k",
            )

    def infeasible(self) -> Tensor:
        """Units of narrow layers, where these are left out."""
        narrow = torch.tensor(self.profile.scope.widths) <= self.k
        left_out = narrow[self.profile.scope.layer_of] & self.wide_only
        return left_out.repeat_interleave(self.k if self.ranked else 1)

    def note(self, batch: Batch) -> State:
        """The units at the top of each layer (N, up to k x layers)."""
        if self.compat == "dnn-tip":
            chosen = [
                top_as_numpy(self.side * batch.values[:, part].detach().cpu(), self.k) for part in batch.scope.slices
            ]
        else:
            chosen = tops(batch, self.k, self.side, self.ranked)
        units = [part.start + columns for part, columns in zip(batch.scope.slices, chosen, strict=True)]
        if self.ranked:
            units = [unit * self.k + torch.arange(unit.shape[1]) for unit in units]
        return {"cells": torch.cat(units, 1)}

    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """How far each open unit is below the last that is at the top."""
        gap = self._short(batch.values)
        each = self.k if self.ranked else 1
        covered = self.covered(state).view(-1, each)
        closed = covered[:, -1] | ~self.counted().view(-1, each)[:, -1] | (gap <= 0)
        last = torch.arange(self.profile.scope.units) * each + each - 1
        return last.expand(gap.shape), torch.where(closed, torch.inf, gap)

    def _short(self, values: Tensor) -> Tensor:
        """How far each unit is from being among the top of its layer (N, units); at most 0 where it is."""
        short, span = [], self.profile.span
        for part in self.profile.scope.slices:
            mine = self.side * values[:, part]
            if mine.shape[1] <= self.k:
                short.append(torch.full_like(mine, -1))
                continue
            best = mine.topk(self.k + 1).values
            rival = torch.where(mine >= best[:, -2:-1], best[:, -1:], best[:, -2:-1])
            short.append((rival - mine) / span[part].where(span[part] > 0, 1))
        return torch.cat(short, 1)

    def distance(self, aiming: Aiming) -> Tensor:
        """How far the units aimed at are below those they have to pass: all of their layer but the k - 1 largest."""
        scope, span = self.profile.scope, self.profile.span
        unit = aiming.aims.clamp_min(0) // (self.k if self.ranked else 1)
        values = self.side * aiming.batch.values
        ahead = values[:, None, :] - values.gather(1, unit)[:, :, None]
        rivals = (scope.layer_of == scope.layer_of[unit][:, :, None]) & (torch.arange(scope.units) != unit[:, :, None])
        behind = torch.where(rivals, breach(ahead / span.where(span > 0, 1)[unit][:, :, None]), 0)
        spared = behind.topk(min(self.k - 1, scope.units)).values
        return mean_of_aims(behind.sum(2) - spared.sum(2), aiming.aims)

    def describe(self, obligation: int) -> str:
        """Which unit."""
        unit = obligation // (self.k if self.ranked else 1)
        word = "largest" if self.side > 0 else "smallest"
        return f"{self.profile.scope.unit_name(unit)} among the {self.k} {word} of its layer"


@dataclass(eq=False)
class BKNC(TKNC):
    """Bottom-k neuron coverage: the k smallest of each layer.

    Args:
        k: how many of each layer.
        wide_only: leave out layers of at most k units.
    """

    name, title = "bknc", "bottom-k neuron coverage"
    side: ClassVar[int] = -1


def tops(batch: Batch, k: int, side: int = 1, ordered: bool = False) -> list[Tensor]:
    """The columns of the k largest (side 1) or smallest (side -1) values of each layer, as `top` gives them."""

    def make() -> list[Tensor]:
        values = plain_values(batch) if side > 0 else -plain_values(batch)
        return [top(values[:, part], k, ordered) for part in batch.scope.slices]

    return batch.once(("tops", k, side, ordered), make)


def top(values: Tensor, k: int, ordered: bool = False) -> Tensor:
    """The columns of the k largest values of each row (N, k), of equal ones the first; in order where it matters."""
    width = values.shape[1]
    if width <= k and not ordered:
        return torch.arange(width).expand(len(values), width)
    best, chosen = values.topk(min(k + 1, width))
    tie = (best[:, :-1] == best[:, 1:]).any() if ordered else width > k and (best[:, -2] == best[:, -1]).any()
    if tie:  # topk takes equal values in any order
        chosen = values.sort(dim=1, descending=True, stable=True).indices
    return chosen[:, :k]


def top_as_numpy(values: Tensor, k: int) -> Tensor:
    """The k largest as dnn-tip takes them: the end of an ascending argsort."""
    return torch.from_numpy(values.numpy().argsort(axis=1)[:, -k:].copy())
