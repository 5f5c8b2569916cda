"""The values that flow between the rooms.

One currency: `Images` are float32, NCHW, in [0, 1]. Only generators and classifier adaptors convert.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TypeAlias

import torch
from torch import Tensor

from foible.names import RIVAL as RIVAL
from foible.names import TESTED as TESTED
from foible.names import Arm as Arm
from foible.names import Status as Status

Images: TypeAlias = Tensor
"""float32 (N, channels, height, width), values in [0, 1]."""

Latents: TypeAlias = Tensor
"""float32 (N, *latent shape)."""

State: TypeAlias = dict[str, Tensor]
"""What a search or an objective remembers: named tensors. That of a search has the lane first."""


class Capability(StrEnum):
    """What a classifier can give beyond its scores."""

    GRADIENT = "gradient"
    ACTIVATIONS = "activations"


@dataclass(frozen=True)
class LatentSpace:
    """Where latents live: bounds and natural step, measured from samples and never typed in.

    `low`, `high` (extremes) and `step` (standard deviation per coordinate) broadcast against `shape`.
    """

    shape: tuple[int, ...]
    low: Tensor
    high: Tensor
    step: Tensor

    @classmethod
    def measured(cls, latents: Latents) -> LatentSpace:
        """The space spanned by sampled or encoded latents, shape (N, *latent)."""
        return cls(tuple(latents.shape[1:]), latents.min(), latents.max(), latents.std(0, correction=0))

    @property
    def range(self) -> float:
        """Largest minus smallest coordinate seen: the unit in which search extents are given."""
        return float(self.high.max() - self.low.min())

    def clamp(self, latents: Latents) -> Latents:
        """Latents brought back inside the bounds, which broadcast over leading dimensions."""
        return torch.clamp(latents, self.low, self.high)


@dataclass(frozen=True)
class Starts:
    """What searches start from: K origins each, one for most methods, a population for others.

    Attempt numbers (L,), latents (L, K, *latent), labels (L, K) and classes aimed at (L, K), -1 where none is. A label is
    always a class, because a conditional generator needs one; whether it is *expected* is the oracle's affair.
    """

    attempts: Tensor
    latents: Latents
    labels: Tensor
    targets: Tensor

    @classmethod
    def none(cls, latent_shape: tuple[int, ...], count: int) -> Starts:
        """No search, of `count` origins each."""
        nobody = torch.empty(0, count, dtype=torch.long)
        return cls(torch.empty(0, dtype=torch.long), torch.empty(0, count, *latent_shape), nobody, nobody)

    def __len__(self) -> int:
        return len(self.attempts)

    def rows(self, index: Tensor) -> Starts:
        """The starts of the searches at these positions."""
        return Starts(self.attempts[index], self.latents[index], self.labels[index], self.targets[index])

    def at(self, lanes: Tensor, which: Tensor) -> tuple[Tensor, Tensor, Latents]:
        """Labels, targets and latents (M, ...) of the origins `which` (M,) of these lanes (M,)."""
        place = lanes * self.labels.shape[1] + which
        labels, targets, latents = (
            t.flatten(0, 1).index_select(0, place) for t in (self.labels, self.targets, self.latents)
        )
        return labels, targets, latents

    def joined(self, others: Starts) -> Starts:
        """These and then those."""
        both = ((getattr(self, f), getattr(others, f)) for f in ("attempts", "latents", "labels", "targets"))
        return Starts(*(torch.cat(pair) for pair in both))


class Want(IntEnum):
    """What is asked of a candidate, from cheap to dear; each is paid for by the roles it needs."""

    VERDICT = 0  # does it fail? The oracle's roles alone
    SCORES = 1  # and how good is it? All roles that oracle and objective read
    GRADIENTS = 2  # and which way is better? The same, and backwards
    GUIDE = 3  # which way is better, by a quicker look? The roles that the objective names for it, and backwards


@dataclass(frozen=True)
class Proposal:
    """Candidates to be evaluated: latents (M, *latent), and for each (M,) its lane and what is asked of it.

    `origins` says from which of the K origins of its lane a candidate comes (label, target and z0 follow from it). A search
    may aim at other classes than the recipe does (`targets`), and say which candidates are kept where they fail (`shown`;
    all where it says nothing).
    """

    latents: Latents
    lanes: Tensor
    origins: Tensor = None  # type: ignore[assignment]
    wants: Tensor = None  # type: ignore[assignment]
    targets: Tensor | None = None
    shown: Tensor | None = None

    def __post_init__(self) -> None:
        if self.origins is None:
            object.__setattr__(self, "origins", torch.zeros_like(self.lanes))
        if self.wants is None:
            object.__setattr__(self, "wants", torch.full_like(self.lanes, Want.SCORES))

    def rows(self, index: Tensor) -> Proposal:
        """The candidates at these positions."""
        columns = (self.latents, self.lanes, self.origins, self.wants, self.targets, self.shown)
        return Proposal(*(None if column is None else column[index] for column in columns))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Evaluation:
    """All that is known about a chunk of candidates, row by row.

    `outputs` holds logits by role, (N, classes), or (N, variations, classes) where a role looks at variations of an
    image; `activations` what was recorded, role -> layer -> values. `memory` has one row per lane, to be read through
    `lanes`; `shared` is the same for the whole run.
    """

    latents: Latents
    images: Images
    origins: Latents
    labels: Tensor
    targets: Tensor
    outputs: Mapping[str, Tensor]
    activations: Mapping[str, Mapping[str, Tensor]] = field(default_factory=dict)
    lanes: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.long))
    memory: State = field(default_factory=dict)
    shared: State = field(default_factory=dict)


@dataclass(frozen=True)
class Feedback:
    """What a search is told about its proposal, row by row.

    Scores (M, columns), lower is better, NaN where not asked for; failures (M,); counted work (M,); gradients
    (M, columns, *latent), zero in the columns that the search does not follow; what an objective noted; and failures (M,)
    that are none because the validators refuse them.
    """

    scores: Tensor
    failed: Tensor
    cost: Tensor
    gradients: Tensor | None = None
    notes: State = field(default_factory=dict)
    refused: Tensor = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.refused is None:
            object.__setattr__(self, "refused", torch.zeros_like(self.failed))


@dataclass(frozen=True)
class Budget:
    """How much one origin (evaluations) and a whole campaign (seconds) may cost."""

    evaluations: int
    seconds: float | None = None
