"""What every coverage criterion can do: watch inputs go by, say what is covered, what is open, and how to get there.

A criterion is settings and a profile. All it remembers is a dictionary of tensors that can be saved, and merged in any
order. Each method that reads or changes this memory takes it as `state`; left out, it is the criterion's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor

from foible.coverage.batch import Batch
from foible.coverage.hashing import mixed
from foible.coverage.profile import Profile
from foible.errors import DataError, RecipeError
from foible.types import State

Compat = Literal["none", "deepxplore", "dnn-tip", "nlc", "deephunter"]
How = Literal["cheapest", "random", "rarest"]


@dataclass(frozen=True)
class Obligations:
    """What a criterion asks for, by number; `describe` of the criterion says which is which.

    Args:
        open: not covered yet.
        covered: covered.
        constant: of units that never varied in the profile; not counted.
        infeasible: out of reach by the layer's bounds, as below 0 after a ReLU; not counted.
    """

    open: Tensor
    covered: Tensor
    constant: Tensor
    infeasible: Tensor


@dataclass(frozen=True)
class Aiming:
    """Inputs on their way: where they are, what they aim at (N, A), where they began, and what is covered."""

    batch: Batch
    aims: Tensor
    base: Batch
    state: State


@dataclass(eq=False)
class Criterion(ABC):
    """A way to say how much of a model's behaviour some inputs exercise.

    Args:
        profile: what the units do on ordinary data.
        compat: whose edge cases to reproduce; "none" follows docs/coverage.md.
        cap_mb: memory beyond which it refuses to begin.
    """

    profile: Profile
    compat: Compat = "none"
    cap_mb: int = 1024
    state: State = field(init=False, repr=False)

    name: ClassVar[str]
    title: ClassVar[str]
    measure: ClassVar[str] = (
        "share"  # what value() is: a "share" of obligations, a "count", or a "spread" without a top
    )
    modes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.compat != "none" and self.compat not in self.modes:
            known = ", ".join(("none", *self.modes))
            raise RecipeError(f"coverage '{self.name}' has no compat mode '{self.compat}'", f"known: {known}")
        if not self.profile.count:
            raise DataError("the profile is empty", "fit it on images of the training set")
        self.prepare()
        self.state = self.empty()

    def prepare(self) -> None:  # noqa: B027
        """Check the settings and work out what does not change."""

    @abstractmethod
    def empty(self) -> State:
        """The memory before any input."""

    @abstractmethod
    def note(self, batch: Batch) -> State:
        """What there is to remember of each input: rows, compact."""

    @abstractmethod
    def add(self, state: State, notes: State) -> None:
        """Remember noted inputs, in place."""

    @abstractmethod
    def gains(self, state: State, notes: State, alone: bool = False) -> Tensor:
        """What each noted input would add (N,): one after the other, or each of them alone."""

    @abstractmethod
    def merged(self, one: State, other: State) -> State:
        """The memory of both; the order of the two does not matter."""

    @abstractmethod
    def value(self, state: State | None = None) -> float:
        """How much is covered."""

    @abstractmethod
    def per_layer(self, state: State | None = None) -> Tensor:
        """How much of each layer is covered (layers,); NaN where it has nothing to cover."""

    @abstractmethod
    def obligations(self, state: State | None = None) -> Obligations:
        """What is open, covered, constant and infeasible."""

    @abstractmethod
    def gaps(self, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """Open obligations within reach of each input (N, C) and how far each is (N, C); infinite where there is none."""

    @abstractmethod
    def distance(self, aiming: Aiming) -> Tensor:
        """How far each input is from what it aims at (N,): differentiable."""

    @abstractmethod
    def reached(self, aiming: Aiming) -> Tensor:
        """Whether each input covers what it aims at (N, A); whatever a row does that aims at nothing."""

    @abstractmethod
    def layers_aimed_at(self, numbers: Tensor) -> Tensor:
        """The layer's number for each obligation."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many obligations there are to aim at: their numbers are below this."""

    @abstractmethod
    def raised(self, aims: Tensor) -> Tensor:
        """The unit whose output the published rule would raise in the place of each aim; any of its layer without one."""

    @abstractmethod
    def describe(self, obligation: int) -> str:
        """An obligation for people."""

    def objective(self, batch: Batch, aims: Tensor, base: Batch | None = None, state: State | None = None) -> Tensor:
        """How far each input is from the obligations it aims at (N,): to be minimised, differentiable.

        Args:
            batch: the inputs; values may carry gradients.
            aims: numbers of obligations (N, A); -1 for none.
            base: the inputs that the search began with, row by row; left out, those of the batch.
            state: what is covered; only NLC looks at it here.
        """
        return self.distance(self._aiming(batch, aims, base, state))

    def met(self, batch: Batch, aims: Tensor, base: Batch | None = None, state: State | None = None) -> Tensor:
        """Which obligations (N, A) the inputs that aim at them cover; False where there is no aim."""
        with torch.no_grad():
            return self.reached(self._aiming(batch, aims, base, state)) & (aims >= 0)

    def _aiming(self, batch: Batch, aims: Tensor, base: Batch | None, state: State | None) -> Aiming:
        return Aiming(batch, aims, batch if base is None else base, self.state if state is None else state)

    def observe(self, batch: Batch) -> Tensor:
        """Remember inputs and give what each adds to those before it (N,); how a suite is cut makes no difference."""
        notes = self._noted(batch)
        gained = self.gains(self.state, notes)
        self.add(self.state, notes)
        return gained

    def peek(self, batch: Batch) -> Tensor:
        """What each input alone would add (N,), without remembering it."""
        return self.gains(self.state, self._noted(batch), alone=True)

    def absorb(self, batch: Batch) -> None:
        """Remember inputs without asking what each adds: quicker than `observe`."""
        self.add(self.state, self._noted(batch))

    def merge(self, other: State) -> None:
        """Remember also what another criterion of the same settings and profile has seen."""
        self.state = self.merged(self.state, other)

    def aim(
        self,
        batch: Batch,
        count: int = 1,
        how: How = "cheapest",
        salt: Tensor | None = None,
        state: State | None = None,
        barred: Tensor | None = None,
    ) -> Tensor:
        """For each input the numbers of obligations to aim at (N, count); -1 where too few are open.

        Args:
            batch: the inputs as they are.
            count: how many for each.
            how: "cheapest" takes those that are least far, "random" any, "rarest" the cheapest of the layer that is
                covered least.
            salt: a number for each input (N,) on which the random choice depends.
            state: what is covered.
            barred: obligations (numbers,), or for each input its own (N, numbers), that are not to be aimed at.
        """
        state = self.state if state is None else state
        with torch.no_grad():
            numbers, gap = self.gaps(batch, state)
            numbers = numbers.expand(gap.shape)
            if barred is not None:
                gap = gap.masked_fill(barred.expand(len(batch), self.numbers).gather(1, numbers), torch.inf)
            gap = self._preferred(how, numbers, gap, salt, state)
            least, place = gap.topk(min(count, gap.shape[1]), largest=False)
            aims = torch.where(least.isfinite(), numbers.gather(1, place), -1)
        return torch.nn.functional.pad(aims, (0, count - aims.shape[1]), value=-1)

    def _preferred(self, how: How, numbers: Tensor, gap: Tensor, salt: Tensor | None, state: State) -> Tensor:
        """Gaps in the order in which they are to be chosen (N, C); infinite where they were."""
        if how == "random":
            # mixed first: with the salt itself the next one would take the neighbour
            salted = numbers if salt is None else numbers + mixed(salt)[:, None]
            return torch.where(gap.isfinite(), (mixed(salted) >> 11).to(torch.float64), torch.inf)
        if how == "rarest":
            share = self.per_layer(state).nan_to_num(torch.inf).to(gap.dtype)
            layer = self.layers_aimed_at(numbers)
            least = share[layer].masked_fill(gap.isinf(), torch.inf).amin(1, keepdim=True)
            there = (share[layer] <= least) & gap.isfinite()
            return gap.where(there, torch.inf)
        return gap

    def _noted(self, batch: Batch) -> State:
        if batch.scope != self.profile.scope:
            raise DataError(
                f"the activations are of {batch.scope}, the profile is of {self.profile.scope}",
                "read them with the profile's scope",
            )
        with torch.no_grad():
            return self.note(batch)

    def at_least(self, setting: str, value: float, least: float) -> None:
        """Refuse a setting that is too small."""
        if not value >= least:
            raise RecipeError(f"coverage '{self.name}': {setting} must be at least {least:g}, got {value:g}")

    def within_cap(self, count: int, what: str, hint: str) -> None:
        """Refuse to begin what would take more memory than allowed."""
        if count > self.cap_mb << 20:
            raise RecipeError(
                f"coverage '{self.name}' would take {count / 2**20:,.0f} MB for {what}, more than {self.cap_mb:,} MB",
                f"{hint}, or raise cap_mb",
            )

    def join_layers(self, covered: Tensor, counted: Tensor, layer: Tensor) -> Tensor:
        """Shares covered of each layer from obligations (C,) and the layer of each."""
        layers = len(self.profile.scope.layers)
        done = torch.bincount(layer[covered & counted], minlength=layers)
        return done / torch.bincount(layer[counted], minlength=layers)


class LayerCriterion(Criterion):
    """One whose obligations are whole layers: nothing smaller can be named beforehand."""

    @property
    def numbers(self) -> int:
        """One for each layer."""
        return len(self.profile.scope.layers)

    def layers_aimed_at(self, numbers: Tensor) -> Tensor:
        """The numbers are those of layers."""
        return numbers

    def raised(self, aims: Tensor) -> Tensor:
        """The first unit of the layer aimed at."""
        return torch.tensor([part.start for part in self.profile.scope.slices])[aims.clamp_min(0)]


def numbers_where(*masks: Tensor) -> Sequence[Tensor]:
    """The positions at which each mask holds."""
    return [mask.nonzero()[:, 0] for mask in masks]
