"""The parts of a campaign, on one page. Each has one to three methods; none has a base class to inherit from.

recipe -> check -> origins -> [ ask -> decode -> classify -> score -> tell ] -> judge -> store -> report
                               Search  Generator  Classifier  Objective          Oracle, Validator
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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
    OriginBatch,
    Proposal,
    State,
    Verdict,
)


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
    """The second face of a generator that can start from real images."""

    def encode(self, images: Images, labels: Tensor) -> Latents:
        """The latents from which these images can be made again, nearly."""
        ...


class Classifier(Protocol):
    """The system under test."""

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
        """The names of the layers that can be asked for; none where the model's format hides them."""
        ...

    def inspect(self, images: Images, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Logits (N, classes), and what each of these layers gives, (N, ...)."""
        ...


class Objective(Protocol):
    """What a search minimises: one column per name."""

    names: tuple[str, ...]

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Scores (N, len(names)); lower is closer to a failure."""
        ...


@dataclass(frozen=True)
class Lanes:
    """The origins being searched at this moment, and what their searches may use."""

    origins: OriginBatch
    space: LatentSpace
    streams: Streams


class Search(Protocol):
    """Where to look next. A search is frozen settings; all it remembers is in the state.

    The state is a dictionary of tensors whose first dimension is the lane. Because of that alone, the engine can refill
    a lane, save a checkpoint and resume without knowing the search.
    """

    def begin(self, lanes: Lanes) -> State:
        """The state of searches that have not asked yet."""
        ...

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """The candidates that still need a score, at least one for every lane."""
        ...

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """The state after learning what became of a proposal."""
        ...


class Oracle(Protocol):
    """Is it a failure?"""

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,) where the classifier fails."""
        ...


class Validator(Protocol):
    """Does the failure count: is the image of the domain, and is its label kept?"""

    name: str

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """What it has to say of each image: nothing, a verdict, or one about the image and one about the label."""
        ...
