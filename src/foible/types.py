"""The values that flow between the rooms.

One currency: `Images` are float32, NCHW, in [0, 1]. Only generators and classifier adaptors convert.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

from foible.errors import RecipeError

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


class Status(StrEnum):
    """How the search from one origin ended."""

    REJECTED = "rejected"  # the classifier already gets the origin wrong: set apart, never searched
    REFUSED = "refused"  # the validators do not take the origin for an image of its class: set apart as well
    HELD = (
        "held"  # the budget is spent and no failure was seen (where only those that count end a search: none of them)
    )
    LOST = "lost"  # failures were seen, none survived rounding to an 8-bit image and a second look
    FOUND = "found"  # a failure that survives both


class Arm(StrEnum):
    """The side of the comparison an outcome belongs to."""

    SEARCH = "search"
    BASELINE = "baseline"


TESTED = "tested"
"""The role of the classifier under test; the others are named in the recipe."""

RIVAL = "rival"
"""The role of the one it is compared with."""


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


About: TypeAlias = Literal["image", "label", "steadiness"]
"""What a verdict is about."""


@dataclass(frozen=True)
class Verdict:
    """A validator's word on one image: does the failure count, and the number behind it in [0, 1].

    It is about the "image" (is it of the domain?), the "label" (is it kept?) or "steadiness" (do harmless variations
    leave it a failure?), and accepted when the score reaches the threshold. `why` says it in words.
    """

    validator: str
    accepted: bool
    score: float
    about: About = "image"
    threshold: float = 0.5
    why: str = ""


def everyone_accepts(verdicts: Iterable[Verdict], about: About | None = None) -> bool:
    """Whether nobody objects: all verdicts accept, or all about the image or the label where that is asked."""
    return all(v.accepted for v in verdicts if about is None or v.about == about)


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended: a row of the run's table, failures or not.

    Label, target (-1: none) and source are those of its first origin; `findings` is how many failures it kept.
    """

    arm: Arm
    attempt: int
    label: int
    source: str
    status: Status
    origin_predicted: int
    evaluations: int = 0
    rounds: int = 0
    best_score: float | None = None
    target: int = -1
    findings: int = 0

    @property
    def accepted(self) -> bool:
        """Whether its origin was fit to be searched from."""
        return self.status not in {Status.REJECTED, Status.REFUSED}


Probabilities: TypeAlias = tuple[float, ...]


class Key(NamedTuple):
    """Which finding of an arm: its attempt, and the number that tells the findings of one attempt apart.

    Written "12" for the first finding of attempt 12 and "12-3" for its fourth, wherever a finding has an address.
    """

    attempt: int
    number: int = 0

    def __str__(self) -> str:
        return f"{self.attempt}-{self.number}" if self.number else f"{self.attempt}"

    @property
    def padded(self) -> str:
        """The same as part of a file name: in order of attempt and number when sorted as text."""
        return f"{self.attempt:06d}-{self.number:04d}" if self.number else f"{self.attempt:06d}"

    @classmethod
    def read(cls, text: str) -> Key:
        """A key as it is written, also padded."""
        attempt, dash, number = text.partition("-")
        parts = [attempt, number] if dash else [attempt]
        if not all(part.isascii() and part.isdecimal() and len(part) < 12 for part in parts):
            raise RecipeError(f"'{text[:40]}' names no finding", "write an attempt, such as 12, or 12-3 for its fourth")
        return cls(*map(int, parts))


@dataclass(frozen=True)
class Finding:
    """A confirmed failure: what the classifiers said before and after, and all that is needed to replay it.

    `before` and `after` hold probabilities by role, of the origin and of the failure; `measures` whatever numbers were
    taken, such as the objective's columns. `number` tells the findings of one attempt apart.
    """

    arm: Arm
    attempt: int
    label: int
    predicted: int
    evaluations: int
    rounds: int
    before: Mapping[str, Probabilities]
    after: Mapping[str, Probabilities]
    latent_distance: float
    pixel_distance: float
    latent: Latents
    origin_latent: Latents
    image: str
    origin_image: str
    image_sha256: str
    origin_sha256: str = ""
    verdicts: tuple[Verdict, ...] = ()
    number: int = 0
    target: int = -1
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Which finding of its arm it is."""
        return Key(self.attempt, self.number)

    @property
    def probabilities(self) -> Probabilities:
        """What the tested classifier says of the failure."""
        return self.after[TESTED]

    @property
    def origin_probabilities(self) -> Probabilities:
        """What the tested classifier says of the origin."""
        return self.before[TESTED]

    @property
    def confidence(self) -> float:
        """Probability the classifier gives its wrong answer."""
        return self.probabilities[self.predicted]

    @property
    def counts(self) -> bool:
        """Whether every validator takes the image for one of the domain and its label for kept."""
        return everyone_accepts(self.verdicts)
