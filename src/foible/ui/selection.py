"""Which failures to show: filters over class pair, cost and verdicts, in an order, page by page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from foible.records import Key
from foible.store.answers import Answers
from foible.store.reader import FindingLine
from foible.store.selection import Wanted, counts, is_judged, passes
from foible.survey.select import doubt

PAGE = 24
MOST_KEYS = 2000
KEY = re.compile(r"[0-9]{1,11}(-[0-9]{1,11})?")
ORDERS = {
    "counting": "those that count first",
    "attempt": "in order of attempt",
    "cheap": "quickest first",
    "costly": "slowest first",
    "near": "nearest to the starting image first",
    "far": "farthest from the starting image first",
    "sure": "the surest mistakes first",
    "unsure": "the least sure mistakes first",
    "doubtful": "the closest verdicts first",
}
COUNTS = {"": "all", "yes": "counts", "no": "does not count"}
JUDGED = {"": "any", "yes": "yes", "no": "no", "unknown": "not judged"}


@dataclass(frozen=True)
class Filter(Wanted):
    """What the address of a gallery says."""

    order: str = "counting"
    page: int = 1

    def query(self, **changes: object) -> str:
        """The address of this gallery with some values changed."""
        values = vars(self) | {"page": 1} | changes
        default = vars(Filter())
        said = {k: v for k, v in values.items() if v is not None and v != default[k]}
        return urlencode(said | ({"keys": ",".join(map(str, said["keys"]))} if "keys" in said else {}))

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
        keys=_keys(query.get("keys", "")),
        order=choice("order", ORDERS, Filter.order),
        page=number("page", 10**6) or 1,
    )


def _keys(text: str) -> tuple[Key, ...]:
    """The failures that were selected one by one."""
    words = text.split(",")[:MOST_KEYS]
    return tuple(dict.fromkeys(Key.read(word) for word in words if KEY.fullmatch(word)))


def select(
    lines: Sequence[FindingLine],
    chosen: Filter,
    answers: Answers,
    confidences: Callable[[], Mapping[Key, float]] = dict,
) -> list[FindingLine]:
    """The failures that pass a filter, in its order; `confidences` are asked for where the order needs them."""
    passing = [line for line in lines if passes(line, chosen, answers)]
    sure = confidences() if chosen.order in {"sure", "unsure"} else {}
    keys: dict[str, Callable[[FindingLine], Any]] = {
        "attempt": lambda f: f.key,
        "cheap": lambda f: f.evaluations,
        "costly": lambda f: -f.evaluations,
        "near": lambda f: f.latent_distance,
        "far": lambda f: -f.latent_distance,
        "sure": lambda f: -sure.get(f.key, 0.0),
        "unsure": lambda f: sure.get(f.key, 1.0),
        "counting": lambda f: (not is_judged(f, answers), not counts(f, answers), f.key),
        "doubtful": lambda f: (doubt(f), f.key),
    }
    return sorted(passing, key=keys[chosen.order])
