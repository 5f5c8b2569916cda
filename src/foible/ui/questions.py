"""What a user wants to know: the questions on the first page, and what each of them makes of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foible.domains import Domain
from foible.errors import RecipeError, did_you_mean

MOST_TARGETS = 30  # classes up to which a search aims at every pair of them


@dataclass(frozen=True)
class Question:
    """Something to find out: how it is asked, what comes of it, where its form is and what fields hold there at first."""

    key: str
    title: str
    lead: str
    gives: str
    path: str
    button: str = "Start"
    first: Mapping[str, str] = field(default_factory=dict)

    def facts(self, domain: Domain) -> dict[str, Any]:
        """What a recipe says for it, where the form leaves it open."""
        if self is BORDERS:
            return _borders(domain)
        if self is CHANGES:
            return {"oracle": "disagree", "search": {"use": "frontier"}}
        return {}


def _borders(domain: Domain) -> dict[str, Any]:
    facts: dict[str, Any] = {"search": {"use": "shrink"}, "steadiness": False}
    if len(domain.classes) <= MOST_TARGETS:
        facts |= {"oracle": "targeted", "targets": list(domain.classes)}
    return facts


FAILURES = Question(
    "failures",
    "Where does my model fail?",
    "Searches for realistic images that it gets wrong, and says which of them count.",
    "failures, and how many count",
    "/setup",
    "Find failures",
)
BORDERS = Question(
    "borders",
    "Where are its borders?",
    "Walks from images of each class to the nearest image that the model takes for another.",
    "how near each class is to each other",
    "/setup?question=borders",
    "Find the borders",
    {"attempts": "90", "baseline": "0"},
)
CHANGES = Question(
    "changes",
    "What changed between two models?",
    "Searches for images on which two models disagree: a new version, or a compressed one.",
    "images they disagree on, beside real and random ones",
    "/setup?question=changes",
    "Find differences",
    {"attempts": "50", "baseline": "0"},
)
COVERAGE = Question(
    "coverage",
    "What has my test set never exercised?",
    "Measures which inner behaviours of the model a set of images reaches, and which it never does.",
    "a map of units and what was reached",
    "/ask/coverage",
    "Measure",
)
JUDGING = Question(
    "judging",
    "Which of these images count?",
    "Judges images made by anyone: is each still an image of its kind, and does it keep its label?",
    "a verdict for each image, with its reason",
    "/ask/judging",
    "Judge them",
)
COMPARING = Question(
    "compare",
    "Compare",
    "Puts runs side by side, on the same starting images where they share them.",
    "tables, tests and pictures",
    "/compare",
)
ALL = (FAILURES, BORDERS, CHANGES, COVERAGE, JUDGING, COMPARING)
SEARCHED = {q.key: q for q in (FAILURES, BORDERS, CHANGES)}  # those that a search answers


def question(key: str, known: Mapping[str, Question] | None = None) -> Question:
    """The question of this name."""
    listed = known or {q.key: q for q in ALL}
    if key not in listed:
        raise RecipeError(f"there is no question called '{key[:40]}'", did_you_mean(key, listed))
    return listed[key]


def answered_by(suggested: Mapping[str, Any]) -> str:
    """The question that a search is for, by what it suggests for the rest of the recipe."""
    if _use(suggested.get("oracle")) == "disagree":
        return CHANGES.key
    return BORDERS.key if _use(suggested.get("objective")) == "boundary" else FAILURES.key


def _use(part: Any) -> Any:
    return part.get("use") if isinstance(part, Mapping) else part
