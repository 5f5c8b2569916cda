"""The parts of a campaign, on one page. Each has one to three methods; none has a base class to inherit from.

recipe -> check -> starts -> [ ask -> decode -> classify -> score -> tell ] -> confirm -> judge -> store -> report
                               Search  Generator  Classifier  Objective        Oracle     Validator

A part may have *second faces*: more that it can do, in a protocol of its own (`faces.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from foible.records import Verdict
from foible.seeding import Streams
from foible.types import Capability, Evaluation, Feedback, Images, Latents, LatentSpace, Proposal, Starts, State

# ---------------------------------------------------------------------------------------------------------- generators


class Generator(Protocol):
    """Latents to images."""

    name: str
    space: LatentSpace

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels, height and width of the images."""
        ...

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Fresh latents, one per label; `rng` is the only source of randomness."""
        ...

    def decode(self, latents: Latents, labels: Tensor) -> Images:
        """The images of latents (N, *space.shape); the same latents and labels give the same images."""
        ...


# --------------------------------------------------------------------------------------------------------- classifiers


class Classifier(Protocol):
    """The system under test, or another one in a role beside it."""

    name: str
    classes: tuple[str, ...]
    offers: frozenset[Capability]

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        ...


class Role(NamedTuple):
    """A classifier in its role.

    `free` calls are not counted (a surrogate of the tested one), `lends` says whether it lends gradients, and one call
    costs `cost` evaluations per image.
    """

    classifier: Classifier
    free: bool = False
    lends: bool = True
    cost: int = 1


# ------------------------------------------------------------------------------------------------- objectives, oracles


class Objective(Protocol):
    """What a search minimises: one column per name.

    `reads` says which roles it needs, and of each which layers.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        ...

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """Role -> layers."""
        ...

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Scores (N, len(names)); lower is better. A column whose roles were not asked is NaN."""
        ...


class Setting(NamedTuple):
    """What a shared memory may be fitted on."""

    roles: Mapping[str, Role]
    data: Any  # RealImages of the domain
    device: torch.device


class Oracle(Protocol):
    """Is it a failure?

    `reads` are the roles that must be asked; `expects` says whether the label of the origin is the expected answer
    (then an origin must be right to be accepted).
    """

    @property
    def reads(self) -> tuple[str, ...]:
        """The roles it asks."""
        ...

    @property
    def expects(self) -> bool:
        """Whether an origin's label is the expected answer."""
        ...

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,) where it is one."""
        ...


# ------------------------------------------------------------------------------------------------------------ searches


@dataclass(frozen=True)
class Lanes:
    """The searches under way, and what they may use."""

    starts: Starts
    space: LatentSpace
    streams: Streams

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def attempts(self) -> Tensor:
        """Attempt numbers (L,)."""
        return self.starts.attempts

    @property
    def origins(self) -> Latents:
        """The origin of each search (L, *latent), for searches that have one."""
        return self.starts.latents[:, 0]

    @property
    def targets(self) -> Tensor:
        """The class each search aims at (L,), -1 where it aims at none."""
        return self.starts.targets[:, 0]


class Search(Protocol):
    """Where to look next. A search is frozen settings; all it remembers is in the state.

    The state is a dictionary of tensors whose first dimension is the lane. Because of that alone, the engine can refill
    a lane, save a checkpoint and resume without knowing the search. A search that knows when it has finished says so in
    state["done"], (L,) and true for lanes that have.
    """

    def begin(self, lanes: Lanes) -> State:
        """The state of searches that have not asked yet."""
        ...

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """The candidates to be evaluated, at least one for every lane; changes nothing."""
        ...

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """The state after learning what became of a proposal."""
        ...


# ---------------------------------------------------------------------------------------------------------- validators


class Validator(Protocol):
    """Does the failure count: is the image of the domain, and is its label kept?"""

    name: str

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """What it has to say of each image: nothing, a verdict, or one about the image and one about the label."""
        ...


# ------------------------------------------------------------------------------------------- second faces of any model
