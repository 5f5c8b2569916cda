"""What is wrong with the fields of a form, each for itself: where, what, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foible.classifiers.adapting.settings import SPOKEN, read_setting
from foible.errors import RecipeError, did_you_mean
from foible.parameters import Kind, Parameter
from foible.registry import table

LONGEST = {"classes": 40_000}  # characters of a field; 300 where nothing is said
LARGEST_SIDE = 2048  # pixels: images are resized here and not in the sandbox
LARGEST_WHOLE = 1_000_000  # of a component's own numbers
SAMPLE, NOBODY = "sample", "none"
RANGES = {
    "attempts": (1, 100_000, "starting images"),
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


class Wrong(Exception):
    """A problem that ends the reading of a form."""

    def __init__(self, place: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.problem = Problem(place, message, hint)


def problems_in(fields: Mapping[str, str]) -> tuple[Problem, ...]:
    """Everything that can be said against the fields before they are put together."""
    found = [p for key in fields for p in _length_problem(fields, key)]
    found += [p for key in RANGES for p in _number_problem(fields, key)]
    found += [p for key in SPOKEN for p in _spoken_problem(fields, key)]
    found += [
        Problem(part, f"no {part} is chosen", "pick one above")
        for part in ("generator", "classifier")
        if not fields[part]
    ]
    return tuple(found)


def written(field: str, parameter: Parameter, text: str) -> Any:
    """What is written in the field of a parameter."""
    try:
        value = parameter.read(text)
    except RecipeError as error:
        raise Wrong(field, error.message, error.hint) from error
    if parameter.kind is Kind.WHOLE and value is not None and abs(value) > LARGEST_WHOLE:
        raise Wrong(field, f"{parameter.name}: {value:,} is more than {LARGEST_WHOLE:,}", "use a recipe file for that")
    return value


def guarded(fields: Mapping[str, str]) -> dict[str, Any]:
    """What could name files of this machine, and may name only what is known: data, validators, other classifiers."""
    facts: dict[str, Any] = {}
    if fields["data"]:
        if fields["data"] != SAMPLE:
            raise Wrong("data", f"data can only be '{SAMPLE}' here", "leave it empty to use what is on this machine")
        facts["data"] = SAMPLE
    if fields["validators"]:
        names = [] if fields["validators"] == NOBODY else [n.strip() for n in fields["validators"].split(",")]
        for name in names:
            if name not in table("validators"):
                raise Wrong(
                    "validators", f"no validator is called '{name[:80]}'", did_you_mean(name, table("validators"))
                )
        facts["validators"] = names
    if fields["classifiers"]:
        facts["classifiers"] = dict(_role(pair) for pair in fields["classifiers"].split(","))
    return facts


def _role(pair: str) -> tuple[str, str]:
    from foible.zoo import entries

    role, sign, name = (part.strip() for part in pair.partition("="))
    known = [e.name for e in entries().values() if e.role == "classifiers"]
    if not sign or not role or name not in known:
        what = f"'{pair.strip()[:80]}' is not a role and the name of a classifier of the zoo"
        raise Wrong("classifiers", what, "write for example rival = " + next(iter(known), "NAME"))
    return role, name


def _number_problem(fields: Mapping[str, str], key: str) -> list[Problem]:
    low, high, name = RANGES[key]
    text = fields[key]
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
