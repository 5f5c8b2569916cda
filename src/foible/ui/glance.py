"""A run at a glance: what the first page, the list of runs and the tiles say of it. The number that counts leads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from foible.report.gallery import Card, leading
from foible.report.wording import plural, short_name
from foible.store import Run
from foible.store.answers import Answers, read_answers
from foible.store.reader import FindingLine
from foible.store.selection import counts, is_judged
from foible.ui.pages.cards import card

PICTURES = 6
APART = frozenset({"rejected", "refused"})  # how attempts end that are never searched
REMEMBERED = 300


@dataclass(frozen=True)
class Tally:
    """How many failures there are, how many of them were judged, and how many of those count."""

    failures: int
    judged: int
    counting: int

    @property
    def number(self) -> str:
        """The number that leads: "12 of 30", or the failures alone where nobody has judged them."""
        return f"{self.counting:,} of {self.judged:,}" if self.judged else f"{self.failures:,}"

    @property
    def text(self) -> str:
        """What the number is."""
        if not self.judged:
            return "failures, not judged" if self.failures != 1 else "failure, not judged"
        rest = f", {self.failures - self.judged:,} not judged" if self.judged < self.failures else ""
        return f"{'failures' if self.judged != 1 else 'failure'} count{rest}"


@dataclass(frozen=True)
class Glance:
    """What there is to say of a run in two lines."""

    what: str
    settings: str
    tally: Tally
    searched: int
    planned: int
    created: str
    seconds: float | None
    cards: tuple[Card, ...] = ()
    recipe: dict[str, Any] = field(default_factory=dict)


def tally(lines: Iterable[FindingLine], answers: Answers) -> Tally:
    """Count what counts, as people say or else as validators say."""
    listed = list(lines)
    judged = [line for line in listed if is_judged(line, answers)]
    return Tally(len(listed), len(judged), sum(counts(line, answers) for line in judged))


class Glances:
    """Runs at a glance, each made again only when its files have changed."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[object, Glance]] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, run: Run) -> Glance:
        """A run that is open."""
        name, stamp = str(run.layout.folder), _stamp(run)
        with self._lock:
            known = self._known.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        made = _glance(run)
        with self._lock:
            self._known[name] = (stamp, made)
            self._known.move_to_end(name)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return made


def _stamp(run: Run) -> object:
    """Changes whenever the run or people's answers do."""
    answered = run.layout.answers.stat().st_mtime_ns if run.layout.answers.is_file() else 0
    return (run.manifest.created, run.state, answered, run.version(), *run.counts().values())


def _glance(run: Run) -> Glance:
    recipe, lines, ended = run.manifest.recipe, run.index(), run.counts()
    answers = read_answers(run.layout)
    chosen = leading(lines, answers, PICTURES)
    parts = [short_name(recipe[part]["use"]) for part in ("classifier", "generator")]
    return Glance(
        what=", images from ".join(parts),
        settings=settings_of(recipe),
        tally=tally(lines, answers),
        searched=sum(count for status, count in ended.items() if status not in APART),
        planned=recipe["attempts"],
        created=run.manifest.created,
        seconds=run.seconds,
        cards=tuple(card(run, key) for key, _, _ in chosen),
        recipe=recipe,
    )


def settings_of(recipe: dict[str, Any]) -> str:
    """How a run searches, in a line."""
    said = "".join(f", {setting}" for setting in search_settings(recipe)[:3])
    budget = f"{recipe['budget']['evaluations']:,} evaluations each"
    return (
        f"{short_name(recipe['search']['use'])}{said} · {plural(recipe['attempts'], 'starting image')}, {budget}"
        f" · seed {recipe['seed']}"
    )


def search_settings(recipe: dict[str, Any]) -> list[str]:
    """What a recipe says of its search beyond the name, each as people read it: "steady no"."""
    return [f"{key.replace('_', ' ')} {_short(value)}" for key, value in recipe["search"].items() if key != "use"]


def day(created: str) -> str:
    """When, as people read it: "17 Nov 2026, 06:28" UTC."""
    try:
        return f"{datetime.fromisoformat(created):%-d %b %Y, %H:%M}"
    except ValueError:
        return created[:16]


def _short(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)[:20]
