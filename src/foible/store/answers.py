"""What people say about findings: a small database of its own beside the run, which itself is never touched.

An answer is the class a person sees, OTHER (a class, but not one that was offered) or NOTHING (not recognisable). Answers
to attention checks (real images whose class is known) have a table of their own, and so have ratings of two classes.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import astuple, dataclass
from typing import Any

from foible.errors import RecipeError
from foible.store.database import database_errors, read_only
from foible.store.layout import Layout
from foible.store.manifest import now

OTHER, NOTHING = -2, -1
LONGEST_NAME = 40
TIE = 0.5  # share at which people are divided

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, person TEXT NOT NULL, answer INTEGER NOT NULL, given TEXT NOT NULL,
  seconds REAL, survey TEXT, PRIMARY KEY (arm, attempt, person));
CREATE TABLE IF NOT EXISTS checks (
  survey TEXT NOT NULL, item TEXT NOT NULL, person TEXT NOT NULL, answer INTEGER NOT NULL, expected INTEGER NOT NULL,
  seconds REAL, given TEXT NOT NULL, PRIMARY KEY (survey, item, person));
CREATE TABLE IF NOT EXISTS ratings (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, person TEXT NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL,
  given TEXT NOT NULL, seconds REAL, survey TEXT, PRIMARY KEY (arm, attempt, person));
"""
LATER_COLUMNS = {"seconds": "REAL", "survey": "TEXT"}  # that databases of the first release lack


@dataclass(frozen=True)
class Answer:
    """What one person sees in one finding, how long they looked and in which survey; None where it was not noted."""

    attempt: int
    person: str
    answer: int
    given: str
    seconds: float | None = None
    survey: str | None = None


@dataclass(frozen=True)
class Rating:
    """How much a finding looks, to one person, like the class it came from (source) and the class it is taken for."""

    attempt: int
    person: str
    source: int
    target: int
    given: str
    seconds: float | None = None
    survey: str | None = None


@dataclass(frozen=True)
class CheckAnswer:
    """What one person sees in a real image whose class is known; of two classes, the one they rate higher."""

    survey: str
    item: str
    person: str
    answer: int
    expected: int
    seconds: float | None
    given: str

    @property
    def right(self) -> bool:
        """Whether they see its class."""
        return self.answer == self.expected


@dataclass(frozen=True)
class Answers:
    """Everybody's answers on the findings of a run's search, as person -> attempt -> answer."""

    by_person: Mapping[str, Mapping[int, int]]

    def votes(self, attempt: int) -> Counter[int]:
        """How often each answer was given for one finding."""
        return Counter(mine[attempt] for mine in self.by_person.values() if attempt in mine)

    def valid(self, attempt: int) -> bool | None:
        """Whether more people name a class than find nothing; None when nobody was asked or there is a tie."""
        return _decided(validity(self.votes(attempt)))

    def kept(self, attempt: int, label: int) -> bool | None:
        """Whether more people name this class than give any other answer; None when nobody was asked or in a tie."""
        return _decided(keeping(self.votes(attempt), label))


def validity(votes: Counter[int]) -> float | None:
    """The share of answers that name a class; None when there are none."""
    return 1 - votes[NOTHING] / votes.total() if votes else None


def keeping(votes: Counter[int], label: int) -> float | None:
    """The votes for a class over its own and those of its strongest rival; None when there are none."""
    rival = max((count for answer, count in votes.items() if answer != label), default=0)
    return votes[label] / (votes[label] + rival) if votes else None


def read_answers(layout: Layout) -> Answers:
    """All answers given so far."""
    people: dict[str, dict[int, int]] = {}
    for person, attempt, answer in _read(layout, "answers", "person, attempt, answer", "WHERE arm = 'search'"):
        people.setdefault(person, {})[attempt] = answer
    return Answers(people)


def read_checks(layout: Layout) -> list[CheckAnswer]:
    """All answers to attention checks, those of people who were left out included."""
    columns = "survey, item, person, answer, expected, seconds, given"
    return [CheckAnswer(*row) for row in _read(layout, "checks", columns, "ORDER BY person, survey, item")]


def read_ratings(layout: Layout) -> list[Rating]:
    """All ratings of two classes given so far."""
    columns = "attempt, person, source, target, given, seconds, survey"
    rows = _read(layout, "ratings", columns, "WHERE arm = 'search' ORDER BY person, attempt")
    return [Rating(*row) for row in rows]


def give_answer(layout: Layout, person: str, attempt: int, answer: int) -> None:
    """Note what a person sees in a finding; a second answer takes the place of the first."""
    add_answers(layout, [Answer(attempt, person, answer, now())])


def add_answers(
    layout: Layout, answers: Iterable[Answer], checks: Iterable[CheckAnswer] = (), ratings: Iterable[Rating] = ()
) -> None:
    """Note many answers, all or none; a second answer of a person takes the place of the first."""
    with database_errors(layout.answers), closing(_open(layout)) as database, database:
        database.executemany(
            "INSERT OR REPLACE INTO answers (arm, attempt, person, answer, given, seconds, survey) "
            "VALUES ('search', ?, ?, ?, ?, ?, ?)",
            map(astuple, answers),
        )
        database.executemany("INSERT OR REPLACE INTO checks VALUES (?, ?, ?, ?, ?, ?, ?)", map(astuple, checks))
        database.executemany(
            "INSERT OR REPLACE INTO ratings VALUES ('search', ?, ?, ?, ?, ?, ?, ?)", map(astuple, ratings)
        )


def person_name(text: str) -> str:
    """A name as it is stored: without needless space, and not too long."""
    name = " ".join(text.split())[:LONGEST_NAME]
    if not name or not name.isprintable():
        raise RecipeError("a name is missing", "say who you are, so that answers can be compared")
    return name


def _decided(share: float | None) -> bool | None:
    return None if share is None or share == TIE else share > TIE


def _read(layout: Layout, table: str, columns: str, which: str) -> list[tuple[Any, ...]]:
    """Rows of a table; none where it is missing, as in databases of earlier releases."""
    if not layout.answers.is_file():
        return []
    with database_errors(layout.answers), closing(read_only(layout.answers)) as database:
        if not database.execute(f"PRAGMA table_info({table})").fetchall():
            return []
        return database.execute(f"SELECT {columns} FROM {table} {which}").fetchall()


def _open(layout: Layout) -> sqlite3.Connection:
    database = sqlite3.connect(layout.answers, timeout=10)
    database.executescript(SCHEMA)
    known = {row[1] for row in database.execute("PRAGMA table_info(answers)")}
    for column, kind in LATER_COLUMNS.items():
        if column not in known:
            database.execute(f"ALTER TABLE answers ADD COLUMN {column} {kind}")
    return database
