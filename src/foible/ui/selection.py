"""Which findings to show: filters over class pair, cost and validity, in an order, page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from foible.store.answers import Answers
from foible.store.reader import FindingLine
from foible.store.selection import Wanted, passes

PAGE = 24
ORDERS = {
    "attempt": "in order of attempt",
    "cheap": "quickest first",
    "costly": "slowest first",
    "near": "nearest to the origin first",
    "far": "farthest from the origin first",
}
COUNTS = {"": "any", "yes": "yes", "no": "no"}
JUDGED = {"": "any", "yes": "yes", "no": "no", "unknown": "not judged"}


@dataclass(frozen=True)
class Filter(Wanted):
    """What the address of a gallery says."""

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
        counts=choice("counts", COUNTS, ""),
        order=choice("order", ORDERS, "attempt"),
        page=number("page", 10**6) or 1,
    )


def select(lines: Sequence[FindingLine], chosen: Filter, answers: Answers) -> list[FindingLine]:
    """The findings that pass a filter, in its order."""
    passing = [line for line in lines if passes(line, chosen, answers)]
    keys: dict[str, Callable[[FindingLine], Any]] = {
        "attempt": lambda f: f.key,
        "cheap": lambda f: f.evaluations,
        "costly": lambda f: -f.evaluations,
        "near": lambda f: f.latent_distance,
        "far": lambda f: -f.latent_distance,
    }
    return sorted(passing, key=keys[chosen.order])
