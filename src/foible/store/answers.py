"""What people say about findings: a small database of its own beside the run, which itself is never touched.

An answer is the class a person sees, OTHER (a class, but not one that was offered) or NOTHING (not recognisable).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from foible.store.database import database_errors
from foible.store.layout import Layout
from foible.store.manifest import now

OTHER, NOTHING = -2, -1

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, person TEXT NOT NULL, answer INTEGER NOT NULL, given TEXT NOT NULL,
  PRIMARY KEY (arm, attempt, person));
"""


@dataclass(frozen=True)
class Answers:
    """Everybody's answers on the findings of a run's search, as person -> attempt -> answer."""

    by_person: Mapping[str, Mapping[int, int]]

    def votes(self, attempt: int) -> Counter[int]:
        """How often each answer was given for one finding."""
        return Counter(mine[attempt] for mine in self.by_person.values() if attempt in mine)

    def seen(self, attempt: int) -> int | None:
        """What most people see; None when nobody was asked or there is a tie."""
        best = self.votes(attempt).most_common(2)
        return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else None


def read_answers(layout: Layout) -> Answers:
    """All answers given so far."""
    if not layout.answers.is_file():
        return Answers({})
    with database_errors(layout.answers), closing(_open(layout)) as database:
        rows = database.execute("SELECT person, attempt, answer FROM answers WHERE arm = 'search'").fetchall()
    people: dict[str, dict[int, int]] = {}
    for person, attempt, answer in rows:
        people.setdefault(person, {})[attempt] = answer
    return Answers(people)


def give_answer(layout: Layout, person: str, attempt: int, answer: int) -> None:
    """Note what a person sees in a finding; a second answer takes the place of the first."""
    with database_errors(layout.answers), closing(_open(layout)) as database, database:
        database.execute(
            "INSERT OR REPLACE INTO answers (arm, attempt, person, answer, given) VALUES ('search', ?, ?, ?, ?)",
            (attempt, person, answer, now()),
        )


def _open(layout: Layout) -> sqlite3.Connection:
    database = sqlite3.connect(layout.answers, timeout=10)
    database.executescript(SCHEMA)
    return database
