"""What is wrong with the fields of a form, each for itself: where, what, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from foible.classifiers.adapting.settings import SPOKEN, read_setting
from foible.errors import RecipeError

LONGEST = {"classes": 40_000}  # characters of a field; 300 where nothing is said
LARGEST_SIDE = 2048  # pixels: images are resized here and not in the sandbox
NUMBERS = {
    "attempts": (1, 100_000, "starting images"),
    "population": (3, 1000, "population"),
    "survivors": (2, 999, "survivors"),
    "evaluations": (1, 1_000_000, "budget"),
    "seed": (0, 2**31 - 1, "seed"),
    "baseline": (0, 100_000, "starting images of the baseline"),
}


@dataclass(frozen=True)
class Problem:
    """Something that cannot be: where, what and what to do."""

    field: str
    message: str
    hint: str = ""


def problems_in(fields: Mapping[str, str]) -> tuple[Problem, ...]:
    """Everything that can be said against the fields before they are put together."""
    found = [p for key in fields for p in _length_problem(fields, key)]
    found += [p for key in NUMBERS for p in _number_problem(fields, key)]
    found += [p for key in SPOKEN for p in _spoken_problem(fields, key)]
    found += [
        Problem(part, f"no {part} is chosen", "pick one above")
        for part in ("generator", "classifier")
        if not fields[part]
    ]
    return tuple(found)


def _number_problem(fields: Mapping[str, str], key: str) -> list[Problem]:
    low, high, name = NUMBERS[key]
    text = fields[key]
    if fields["search"] != "genetic" and key in {"population", "survivors"}:
        return []
    if not (text.isdecimal() and len(text) < 12 and low <= int(text) <= high):
        return [Problem(key, f"{name}: '{text[:20]}' is not a whole number from {low:,} to {high:,}")]
    return []


def _length_problem(fields: Mapping[str, str], key: str) -> list[Problem]:
    most = LONGEST.get(key, 300)
    return [Problem(key, f"{key} is longer than {most:,} characters", "shorten it")] if len(fields[key]) > most else []


def _spoken_problem(fields: Mapping[str, str], key: str) -> list[Problem]:
    """What is wrong with one thing that is said of a model of the user's own."""
    try:
        said = read_setting(key, fields[key]) if fields[key] else None
    except RecipeError as error:
        return [Problem(key, error.message, error.hint)]
    if key == "size" and said and max(said) > LARGEST_SIDE:
        return [
            Problem(key, f"size {fields[key]} is more than {LARGEST_SIDE} pixels", "use foible test for such a model")
        ]
    return []
