"""The parts of a campaign, on one page. Each has one to three methods; none has a base class to inherit from.

recipe -> check -> starts -> [ ask -> decode -> classify -> score -> tell ] -> confirm -> judge -> store -> report
                               Search  Generator  Classifier  Objective        Oracle     Validator

A part may have *second faces*: more that it can do, in a protocol of its own. The engine asks `isinstance` and nothing else,
so whatever it may ask of a part is on this page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from foible.seeding import Streams
from foible.types import (
    Capability,
    Evaluation,
    Feedback,
    Images,
    Latents,
    LatentSpace,
    Proposal,
    Starts,
    State,
    Verdict,
)

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


@runtime_checkable
class Encoder(Protocol):
    """The second face of a generator that can start from real images.

    One that also makes good images of its own, and for which encoding is dear, says `prefers = "sampled"`.
    """

    def encode(self, images: Images, labels: Tensor) -> Latents:
        """The latents from which these images can be made again, nearly."""
        ...


@runtime_checkable
class Prefers(Protocol):
    """The second face of a generator that can do both, start from real images and from samples: "real" or "sampled"."""

    prefers: str


def prefers_real(generator: object) -> bool:
    """Whether the origins are real images where nothing else is asked for."""
    return isinstance(generator, Encoder) and (not isinstance(generator, Prefers) or generator.prefers == "real")


# --------------------------------------------------------------------------------------------------------- classifiers


class Classifier(Protocol):
    """The system under test, or another one in a role beside it."""

    name: str
    classes: tuple[str, ...]
    offers: frozenset[Capability]

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        ...


@runtime_checkable
class Inspectable(Protocol):
    """The second face of a classifier whose layers can be watched: logits and activations in one pass, one graph."""

    def layers(self) -> tuple[str, ...]:
        """The names of what can be recorded."""
        ...

    def inspect(self, images: Images, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Logits and activations of these layers, in one pass and one graph."""
        ...


@runtime_checkable
class Batched(Protocol):
    """A classifier that is paid by the request knows best how many images to send at once."""

    chunk: int | None


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


@runtime_checkable
class Derives(Protocol):
    """The second face of an objective that looks through roles of its own, made of the recipe's."""

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The roles to add, by name."""
        ...


@runtime_checkable
class Notes(Protocol):
    """The second face of an objective that tells a search more of each candidate than its scores."""

    def note(self, evaluation: Evaluation) -> State:
        """What to keep of each candidate, one row each; images and activations do not outlive their chunk."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """The second face of an objective whose scores depend on what a search has seen: an archive, units aimed at."""

    def begin(self, lanes: Lanes, shared: State) -> State:
        """What searches that have not asked yet remember; one row per lane."""
        ...

    def note(self, evaluation: Evaluation) -> State:
        """What to keep of each candidate, one row each; images and activations do not outlive their chunk."""
        ...

    def absorb(self, memory: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """The memory after a round; `feedback.notes` has what was noted."""
        ...


@runtime_checkable
class Aims(Protocol):
    """The second face of an objective that knows below which value of its first column there is a failure."""

    @property
    def goal(self) -> float:
        """The value."""
        ...


@runtime_checkable
class Guides(Protocol):
    """The second face of an objective that can say which way is better without asking all that it reads."""

    @property
    def guides(self) -> tuple[str, ...]:
        """The roles to ask; columns that need others are NaN."""
        ...


@runtime_checkable
class Shares(Protocol):
    """The second face of a remembering objective whose memories are shared by a run: units covered so far.

    What is shared is frozen for a wave of attempts and then merged in their order, so that the result does not
    depend on lanes, workers or interruptions.
    """

    def start(self, setting: Setting) -> State:
        """What the first wave shares: profiles fitted on roles and data."""
        ...

    def merge(self, shared: State, ended: State) -> State:
        """What the next wave shares; `ended` has the memories of a wave's searches, one row each, in order."""
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


@runtime_checkable
class Populous(Protocol):
    """The second face of a search that starts from several origins at once."""

    @property
    def starts(self) -> int:
        """How many."""
        ...


@runtime_checkable
class Guided(Protocol):
    """The second face of a search that follows gradients: of these columns. Each is a backward pass of its own."""

    @property
    def follows(self) -> tuple[int, ...]:
        """Positions of the columns."""
        ...


@runtime_checkable
class Suggests(Protocol):
    """The second face of a search that works best with certain settings: used where the recipe is silent."""

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:
        """Keys of a recipe with their values, such as objective, ends, keeps; `others` are classifiers of the domain.

        They are installed models that are neither tested nor the judge's: surrogates for whoever needs some.
        """
        ...


# ---------------------------------------------------------------------------------------------------------- validators


class Validator(Protocol):
    """Does the failure count: is the image of the domain, and is its label kept?"""

    name: str

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """What it has to say of each image: nothing, a verdict, or one about the image and one about the label."""
        ...


@runtime_checkable
class Priced(Protocol):
    """The second face of a validator: evaluations of a network that one image costs (1 where it says nothing)."""

    cost: int


# ------------------------------------------------------------------------------------------- second faces of any model


@runtime_checkable
class Digested(Protocol):
    """A part that knows what it was made from."""

    digests: Mapping[str, str]


@runtime_checkable
class Movable(Protocol):
    """A part that can be put on a device."""

    def to(self, device: torch.device) -> Any:
        """Move it."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A part that holds something to let go of: a process, a connection."""

    def close(self) -> None:
        """Let go."""
        ...


@runtime_checkable
class Noted(Protocol):
    """A part with something to tell its user, such as what was guessed about it."""

    notes: Sequence[str]
