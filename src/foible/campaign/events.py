"""What the engine tells whoever writes: it computes, and owns no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from foible.records import Finding, Outcome
from foible.types import Arm, State


@dataclass(frozen=True)
class Shard:
    """Attempts for one engine: with the states in which some were left, and the memory that the run shares."""

    arm: Arm
    attempts: tuple[int, ...]
    saved: Mapping[int, State] = field(default_factory=dict)
    shared: State = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A confirmed failure, with the bytes of the PNG files of origin and failure."""

    finding: Finding
    origin_png: bytes
    png: bytes


@dataclass(frozen=True)
class Ended:
    """How an attempt ended, and what its objective remembers where the run shares memories."""

    outcome: Outcome
    memory: State | None = None


@dataclass(frozen=True)
class Saved:
    """The states of unfinished searches, by attempt."""

    arm: Arm
    states: Mapping[int, State]


@dataclass(frozen=True)
class Round:
    """A round is over: what it cost, and for each search under way (L,) attempt, label, cost so far and best score."""

    arm: Arm
    evaluations: int
    attempts: Tensor
    labels: Tensor
    spent: Tensor
    lowest: Tensor


@dataclass(frozen=True)
class Shrunk:
    """Memory ran out, and chunks are smaller from now on: last bits may differ from those before."""

    old: int
    new: int


Event = Found | Ended | Saved | Round | Shrunk
