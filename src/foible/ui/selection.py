"""Which findings to show: filters over class pair, cost and validity, in an order, page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from foible.store.answers import Answers
from foible.store.reader import FindingLine
from foible.types import Finding
from foible.ui.verdicts import decided

PAGE = 24
ORDERS = {
    "attempt": "in order of attempt",
    "cheap": "quickest first",
    "costly": "slowest first",
    "near": "nearest to the origin first",
    "far": "farthest from the origin first",
}
JUDGED = {"": "any", "yes": "yes", "no": "no", "unknown": "not judged"}


@dataclass(frozen=True)
class Filter:
    """What the address of a gallery says."""

    label: int | None = None
    predicted: int | None = None
    least: int | None = None
    most: int | None = None
    valid: str = ""
    kept: str = ""
    order: str = "attempt"
    page: int = 1

    def query(self, **changes: object) -> str:
        """The address of this gallery with some values changed."""
        values = vars(self) | {"page": 1} | changes
        default = vars(Filter())
        return urlencode({k: v for k, v in values.items() if v is not None and v != default[k]})

    @property
    def narrowed(self) -> bool:
        """Whether anything is filtered out."""
        return self != Filter(order=self.order, page=self.page)


def read_filter(query: Mapping[str, str], classes: int) -> Filter:
    """Take from an address what makes sense; the rest is ignored."""

    def number(key: str, below: int) -> int | None:
        text = query.get(key, "")
        return int(text) if text.isdecimal() and len(text) < 12 and int(text) < below else None

    def choice(key: str, known: Mapping[str, str], default: str) -> str:
        return query[key] if query.get(key) in known else default

    return Filter(
        label=number("label", classes),
        predicted=number("predicted", classes),
        least=number("least", 10**9),
        most=number("most", 10**9),
        valid=choice("valid", JUDGED, ""),
        kept=choice("kept", JUDGED, ""),
        order=choice("order", ORDERS, "attempt"),
        page=number("page", 10**6) or 1,
    )


def select(lines: Sequence[FindingLine], chosen: Filter, answers: Answers) -> list[FindingLine]:
    """The findings that pass a filter, in its order."""
    passing = [
        line
        for line in lines
        if chosen.label in {None, line.label}
        and chosen.predicted in {None, line.predicted}
        and (chosen.least is None or line.evaluations >= chosen.least)
        and (chosen.most is None or line.evaluations <= chosen.most)
        and chosen.valid in {"", _word(is_valid(line, answers))}
        and chosen.kept in {"", _word(is_kept(line, answers))}
    ]
    keys: dict[str, Callable[[FindingLine], Any]] = {
        "attempt": lambda f: f.key,
        "cheap": lambda f: f.evaluations,
        "costly": lambda f: -f.evaluations,
        "near": lambda f: f.latent_distance,
        "far": lambda f: -f.latent_distance,
    }
    return sorted(passing, key=keys[chosen.order])


def is_valid(line: FindingLine | Finding, answers: Answers) -> bool | None:
    """Whether the image is of the domain, as people say or else as validators say; None when nobody was asked."""
    people = answers.valid(line.key)
    return people if people is not None else decided(line.verdicts, "image")


def is_kept(line: FindingLine | Finding, answers: Answers) -> bool | None:
    """Whether it still shows the expected class; None when nobody was asked."""
    people = answers.kept(line.key, line.label)
    return people if people is not None else decided(line.verdicts, "label")


def _word(answer: bool | None) -> str:
    return "unknown" if answer is None else "yes" if answer else "no"
