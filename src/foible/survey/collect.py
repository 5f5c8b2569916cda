"""Take answers back: everything is checked before anything is stored, and people who did not look are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foible.errors import RecipeError
from foible.metrics import Rate, rate
from foible.store import Run
from foible.store.answers import Answer, CheckAnswer, add_answers, read_answers
from foible.survey.answer_file import Row, read_rows
from foible.survey.key import Key, Question, key_of

ATTENTIVE = 0.8  # of the checks that a person has answered


@dataclass(frozen=True)
class Collected:
    """What came from one person, and whether it was taken."""

    person: str
    answers: int
    replaced: int  # of them take the place of earlier answers
    checks: Rate
    taken: bool


def collect(run: Run, files: Sequence[Path], keep_all: bool = False) -> list[Collected]:
    """Store the answers of some files, all or none of them; gives what came from each person.

    People who get fewer than 80 % of their attention checks right are left out, unless `keep_all`. Their checks are
    stored all the same, so that the report can name them.
    """
    asked = _asked(run, [row for path in files for row in read_rows(path)])
    people: dict[str, tuple[list[Answer], list[CheckAnswer]]] = {}
    for row, question in asked:
        answers, checks = people.setdefault(row.person, ([], []))
        if question.attempt is not None:
            answers.append(Answer(question.attempt, row.person, row.answer, row.given, row.seconds, row.survey))
        elif question.expected is not None:
            checks.append(
                CheckAnswer(row.survey, row.item, row.person, row.answer, question.expected, row.seconds, row.given)
            )
    before = read_answers(run.layout).by_person
    collected = []
    for person, (answers, checks) in sorted(people.items()):
        attention = rate(sum(c.right for c in checks), len(checks))
        taken = keep_all or attention.share is None or attention.share >= ATTENTIVE
        replaced = sum(a.attempt in before.get(person, {}) for a in answers)
        collected.append(Collected(person, len(answers), replaced, attention, taken))
    trusted = {c.person for c in collected if c.taken}
    add_answers(
        run.layout,
        [a for person, (answers, _) in people.items() if person in trusted for a in answers],
        [c for _, checks in people.values() for c in checks],
    )
    return collected


def _asked(run: Run, rows: Sequence[Row]) -> list[tuple[Row, Question]]:
    """Every line with the question that it answers."""
    keys: dict[str, Key] = {}
    seen: dict[tuple[str, str, str], Row] = {}
    asked = []
    for row in rows:
        if row.survey not in keys:
            keys[row.survey] = key_of(run.layout, row.survey)
        key, name = keys[row.survey], (row.survey, row.item, row.person)
        if row.item not in key.questions:
            raise RecipeError(f"{row.place}: survey {key.survey} has no item '{row.item[:40]}'", "the file was edited")
        if row.answer >= len(key.classes):
            raise RecipeError(f"{row.place}: there is no class {row.answer}", f"there are {len(key.classes)} classes")
        if name in seen:
            raise RecipeError(
                f"{row.place}: '{row.person}' has answered item '{row.item}' before, in {seen[name].place}",
                "give each file once; people who share a name need different ones",
            )
        seen[name] = row
        asked.append((row, key.questions[row.item]))
    return asked
