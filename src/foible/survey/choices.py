"""What a person can answer, and with which key: classes on the workbench's page and in a survey, or a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foible.metrics.ratings import LOWEST
from foible.store.answers import NOTHING, OTHER

KEYS = "1234567890abcdefghijklmnoprstuvwyz"  # q and x are taken
DEGREES = ("not at all", "a little", "in part", "mostly", "clearly")  # how much an image looks like a class


@dataclass(frozen=True)
class Choice:
    """An answer, what it says, and its key; the classes beyond those that have keys come with none."""

    answer: int
    text: str
    key: str


def choices(classes: Sequence[str]) -> list[Choice]:
    """Every class, "something else" where there are more classes than keys, and "not recognisable"."""
    digits = all(len(c) == 1 and c.isdecimal() for c in classes)  # digits are their own keys
    named = [Choice(k, c, c if digits else KEYS[k : k + 1]) for k, c in enumerate(classes)]
    other = [Choice(OTHER, "something else", "q")] if len(classes) > len(KEYS) else []
    return [*named, *other, Choice(NOTHING, "not recognisable", "x")]


def scale() -> list[Choice]:
    """The five ratings of how much an image looks like a class."""
    return [Choice(rating, text, str(rating)) for rating, text in enumerate(DEGREES, LOWEST)]
