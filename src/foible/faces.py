"""Second faces: what a part may do beyond its protocol, each a protocol of its own.

The engine asks `isinstance` and nothing else, so whatever it may ask of a part is in `protocols.py` and on this page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from foible.protocols import Lanes, Role, Setting
from foible.types import Evaluation, Feedback, Images, Latents, Proposal, State


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
    """The second face of an objective that asks some of the roles that it reads for the way, and some for the scores."""

    @property
    def guides(self) -> tuple[str, ...]:
        """The roles to ask which way is better (Want.GUIDE); columns that need others are NaN."""
        ...

    @property
    def weighs(self) -> tuple[str, ...]:
        """The roles to ask where no gradient is wanted (Want.SCORES); columns that need others are 0."""
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


@runtime_checkable
class Leaves(Protocol):
    """The second face of an objective that shares, but not all that its searches remember."""

    def leaves(self, memory: State) -> State:
        """The part of a memory that `merge` looks at; the rest is not stored once a search is over."""
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
class Mixes(Protocol):
    """The second face of a guided search to which one gradient will do, of its columns added up: one backward pass for all."""

    @property
    def mixes(self) -> tuple[float, ...]:
        """A weight for each column that it follows; empty: each is to have a gradient of its own.

        The gradient of the sum is told in the place of the first column's, and zero in those of the others.
        """
        ...


@runtime_checkable
class Suggests(Protocol):
    """The second face of a search that works best with certain settings: used where the recipe is silent."""

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:
        """Keys of a recipe with their values, such as objective, ends, keeps; `others` are classifiers of the domain.

        They are installed models that are neither tested nor the judge's: surrogates for whoever needs some.
        """
        ...


@runtime_checkable
class Advises(Protocol):
    """The second face of a generator in whose latent space some searches do well to know something: used where the recipe is silent."""

    @property
    def advises(self) -> Mapping[str, Mapping[str, Any]]:
        """Settings by search, such as {"descent": {"keep": 2.0}}."""
        ...


@runtime_checkable
class Priced(Protocol):
    """The second face of a validator: evaluations of a network that one image costs (1 where it says nothing)."""

    cost: int


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
