"""Is a stored row what it says? A database may be damaged, or made by somebody who means harm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_args

from foible.errors import StoreError
from foible.names import TESTED
from foible.records import About, Finding, Outcome, Verdict

LARGEST = 2**63 - 1  # what SQLite can count to


@contextmanager
def row_errors(what: str, folder: object) -> Iterator[None]:
    """Turn whatever a bad row leads to into an error that names it."""
    try:
        yield
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise StoreError(
            f"{what} of '{folder}' is damaged: {reason}", f"keep what is sound with: foible resume {folder} --repair"
        ) from error


def sound_finding(finding: Finding, classes: int) -> Finding:
    """The finding itself, when its numbers can be what a run writes."""
    sound_line(vars(finding), classes)
    _whole("rounds", finding.rounds)
    _target(finding.target, classes)
    _number("pixel_distance", finding.pixel_distance)
    for said in (finding.before, finding.after):
        if TESTED not in said:
            raise ValueError("what the tested classifier says is missing")
        for role, values in said.items():
            if len(values) != classes:
                raise ValueError(f"{len(values)} probabilities of '{role[:40]}' for {classes} classes")
            for value in values:
                _number("a probability", value)
    for name, value in finding.measures.items():
        _number(name[:40], value)
    for name in ("image", "origin_image", "image_sha256", "origin_sha256"):
        if not isinstance(getattr(finding, name), str):
            raise TypeError(f"{name} is not a text")
    for verdict in finding.verdicts:
        sound_verdict(verdict)
    return finding


def sound_outcome(outcome: Outcome, classes: int) -> None:
    """Refuse an outcome whose numbers no run writes."""
    for name in ("attempt", "evaluations", "rounds", "findings"):
        _whole(name, getattr(outcome, name))
    _target(outcome.target, classes)
    for name in ("label", "origin_predicted"):
        if _whole(name, getattr(outcome, name)) >= classes:
            raise ValueError(f"{name} {getattr(outcome, name)} of {classes} classes")
    if not isinstance(outcome.source, str):
        raise TypeError("source is not a text")
    if outcome.best_score is not None and not isinstance(outcome.best_score, int | float):
        raise TypeError("best_score is not a number")


def sound_line(facts: Mapping[str, Any], classes: int) -> None:
    """Refuse labels that name no class, and costs that are no numbers."""
    for name in ("label", "predicted"):
        if _whole(name, facts[name]) >= classes:
            raise ValueError(f"{name} {facts[name]} of {classes} classes")
    for name in ("attempt", "number", "evaluations"):
        _whole(name, facts[name])
    _number("latent_distance", facts["latent_distance"])


def sound_verdict(verdict: Verdict) -> Verdict:
    """The verdict itself, when it can be one."""
    if not isinstance(verdict.validator, str) or not isinstance(verdict.accepted, bool):
        raise TypeError("a verdict without a name or an answer")
    if verdict.about not in get_args(About) or not isinstance(verdict.why, str):
        raise ValueError(f"a verdict about '{str(verdict.about)[:40]}'")
    _number("score", verdict.score)
    _number("threshold", verdict.threshold)
    return verdict


def _target(value: object, classes: int) -> None:
    """A class, or -1 where none is aimed at."""
    if not isinstance(value, int) or not -1 <= value < classes:
        raise ValueError(f"target is {str(value)[:40]!r}")


def _whole(name: str, value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ValueError(f"{name} is {str(value)[:40]!r}")
    return value


def _number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} is {str(value)[:40]!r}")
