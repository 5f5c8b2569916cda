"""What is written down: the verdict on an image, how an attempt ended, and each failure that was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from foible.errors import RecipeError
from foible.names import TESTED, Arm, Status

if TYPE_CHECKING:
    from foible.types import Latents

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
            raise RecipeError(f"'{text[:40]}' names no failure", "write an attempt, such as 12, or 12-3 for its fourth")
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
