"""Verdicts in words: which validator said what about which question, and the number it stands on.

Every validator that a recipe names has a say: an answer is yes when all of them say so, as in the funnel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foible.records import Verdict

JUDGE = "judge"


@dataclass(frozen=True)
class Reason:
    """One verdict as a sentence."""

    accepted: bool
    text: str


@dataclass(frozen=True)
class Question:
    """What is asked about a finding, the answer (None: not judged), and the verdicts behind it."""

    text: str
    answer: bool | None
    reasons: tuple[Reason, ...]


def reasons(verdicts: Sequence[Verdict], about: str, expected: str) -> tuple[Reason, ...]:
    """The verdicts on one question, the judge's first."""
    said = sorted((v for v in verdicts if v.about == about), key=lambda v: v.validator != JUDGE)
    return tuple(Reason(v.accepted, _sentence(v, expected)) for v in said)


def _sentence(verdict: Verdict, expected: str) -> str:
    side = "at or above" if verdict.score >= verdict.threshold else "below"
    yes, no = {
        "image": ("an image of the domain", "not an image of the domain"),
        "label": (f"still shows {expected}", f"does not show {expected} any more"),
        "steadiness": ("harmless variations leave it a failure", "harmless variations undo it"),
    }[verdict.about]
    claim = yes if verdict.accepted else no
    return f"{verdict.validator}: {claim} ({verdict.score:.2f}, {side} the threshold {verdict.threshold:.2f})"
