"""What people say about findings: a small database of its own beside the run, which itself is never touched.

An answer is the class a person sees, OTHER (a class, but not one that was offered) or NOTHING (not recognisable). Answers
to attention checks (real images whose class is known) have a table of their own, and so have ratings of two classes.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from typing import Any

from foible.errors import RecipeError
from foible.records import Key
from foible.store.database import database_errors, read_only
from foible.store.layout import Layout
from foible.store.manifest import now

OTHER, NOTHING = -2, -1
LONGEST_NAME = 40
TIE = 0.5  # share at which people are divided

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL, person TEXT NOT NULL, answer INTEGER NOT NULL,
  given TEXT NOT NULL, seconds REAL, survey TEXT, PRIMARY KEY (arm, attempt, number, person));
CREATE TABLE IF NOT EXISTS checks (
  survey TEXT NOT NULL, item TEXT NOT NULL, person TEXT NOT NULL, answer INTEGER NOT NULL, expected INTEGER NOT NULL,
  seconds REAL, given TEXT NOT NULL, PRIMARY KEY (survey, item, person));
CREATE TABLE IF NOT EXISTS ratings (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL, person TEXT NOT NULL, source INTEGER NOT NULL,
  target INTEGER NOT NULL, given TEXT NOT NULL, seconds REAL, survey TEXT, PRIMARY KEY (arm, attempt, number, person));
"""
LATER = {
    "number": "0",
    "seconds": "NULL",
    "survey": "NULL",
}  # columns that earlier releases lacked, and what they meant


@dataclass(frozen=True)
class Answer:
    """What one person sees in one finding, how long they looked and in which survey; None where it was not noted."""

    finding: Key
    person: str
    answer: int
    given: str
    seconds: float | None = None
    survey: str | None = None


@dataclass(frozen=True)
class Rating:
    """How much a finding looks, to one person, like the class it came from (source) and the class it is taken for.

    With `arm` "control" it is its origin that was looked at, as the generator makes it, about the same two classes.
    """

    finding: Key
    person: str
    source: int
    target: int
    given: str
    seconds: float | None = None
    survey: str | None = None
    arm: str = "search"


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
    """Everybody's answers on the findings of a run's search, as person -> finding -> answer."""

    by_person: Mapping[str, Mapping[Key, int]]

    def votes(self, finding: Key) -> Counter[int]:
        """How often each answer was given for one finding."""
        return Counter(mine[finding] for mine in self.by_person.values() if finding in mine)

    def valid(self, finding: Key) -> bool | None:
        """Whether more people name a class than find nothing; None when nobody was asked or there is a tie."""
        return _decided(validity(self.votes(finding)))

    def kept(self, finding: Key, label: int) -> bool | None:
        """Whether more people name this class than give any other answer; None when nobody was asked or in a tie."""
        return _decided(keeping(self.votes(finding), label))


def validity(votes: Counter[int]) -> float | None:
    """The share of answers that name a class; None when there are none."""
    return 1 - votes[NOTHING] / votes.total() if votes else None


def keeping(votes: Counter[int], label: int) -> float | None:
    """The votes for a class over its own and those of its strongest rival; None when there are none."""
    rival = max((count for answer, count in votes.items() if answer != label), default=0)
    return votes[label] / (votes[label] + rival) if votes else None


def read_answers(layout: Layout) -> Answers:
    """All answers given so far."""
    people: dict[str, dict[Key, int]] = {}
    columns = ("attempt", "number", "person", "answer")
    for attempt, number, person, answer in _read(layout, "answers", columns, "WHERE arm = 'search'"):
        people.setdefault(person, {})[Key(attempt, number)] = answer
    return Answers(people)


def read_checks(layout: Layout) -> list[CheckAnswer]:
    """All answers to attention checks, those of people who were left out included."""
    columns = ("survey", "item", "person", "answer", "expected", "seconds", "given")
    return [CheckAnswer(*row) for row in _read(layout, "checks", columns, "ORDER BY person, survey, item")]


def read_ratings(layout: Layout, arm: str = "search") -> list[Rating]:
    """All ratings of two classes given so far: of findings, or with "control" of their origins."""
    columns = ("attempt", "number", "person", "source", "target", "given", "seconds", "survey", "arm")
    which = "control" if arm == "control" else "search"
    rows = _read(layout, "ratings", columns, f"WHERE arm = '{which}' ORDER BY person, attempt, 2")
    return [Rating(Key(*row[:2]), *row[2:]) for row in rows]


def give_answer(layout: Layout, person: str, finding: Key, answer: int) -> None:
    """Note what a person sees in a finding; a second answer takes the place of the first."""
    add_answers(layout, [Answer(finding, person, answer, now())])


def take_back(layout: Layout, person: str, finding: Key) -> None:
    """Forget what a person has said of a finding."""
    with database_errors(layout.answers), closing(_open(layout)) as database, database:
        which = "arm = 'search' AND attempt = ? AND number = ? AND person = ?"
        database.execute(f"DELETE FROM answers WHERE {which}", (*finding, person))


def add_answers(
    layout: Layout, answers: Iterable[Answer], checks: Iterable[CheckAnswer] = (), ratings: Iterable[Rating] = ()
) -> None:
    """Note many answers, all or none; a second answer of a person takes the place of the first."""
    with database_errors(layout.answers), closing(_open(layout)) as database, database:
        database.executemany(
            "INSERT OR REPLACE INTO answers VALUES ('search', ?, ?, ?, ?, ?, ?, ?)", map(_row, answers)
        )
        database.executemany("INSERT OR REPLACE INTO checks VALUES (?, ?, ?, ?, ?, ?, ?)", map(astuple, checks))
        rows = ((rating.arm, *_row(rating)[:-1]) for rating in ratings)
        database.executemany("INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def person_name(text: str) -> str:
    """A name as it is stored: without needless space, and not too long."""
    name = " ".join(text.split())[:LONGEST_NAME]
    if not name or not name.isprintable():
        raise RecipeError("a name is missing", "say who you are, so that answers can be compared")
    return name


def _decided(share: float | None) -> bool | None:
    return None if share is None or share == TIE else share > TIE


def _row(said: Answer | Rating) -> tuple[Any, ...]:
    return (*said.finding, *astuple(said)[1:])


def _read(layout: Layout, table: str, columns: Sequence[str], which: str) -> list[tuple[Any, ...]]:
    """Rows of a table; none where it is missing, as in databases of earlier releases."""
    if not layout.answers.is_file():
        return []
    with database_errors(layout.answers), closing(read_only(layout.answers)) as database:
        known = _columns(database, table)
        if not known:
            return []
        wanted = ", ".join(column if column in known else LATER[column] for column in columns)
        return database.execute(f"SELECT {wanted} FROM {table} {which}").fetchall()


def _open(layout: Layout) -> sqlite3.Connection:
    database = sqlite3.connect(layout.answers, timeout=10, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    for table in ("answers", "ratings"):
        _bring_up(database, table)
    database.execute("COMMIT")
    database.executescript(SCHEMA)
    database.isolation_level = "DEFERRED"
    return database


def _bring_up(database: sqlite3.Connection, table: str) -> None:
    """A table of an earlier release with its rows in the columns of this one; one that is missing is left so."""
    known = _columns(database, table)
    if not known or "number" in known:
        return
    database.execute(f"ALTER TABLE {table} RENAME TO earlier")
    (create,) = [part for part in SCHEMA.split(";") if f"EXISTS {table} " in part]
    database.execute(create)
    columns = _columns(database, table)
    values = ", ".join(column if column in known else LATER[column] for column in columns)
    database.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM earlier")
    database.execute("DROP TABLE earlier")


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
