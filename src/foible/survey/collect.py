"""Take answers back: everything is checked before anything is stored, and people who did not look are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foible.errors import RecipeError
from foible.metrics import Rate, rate
from foible.records import Key
from foible.store import Run
from foible.store.answers import NOTHING, Answer, CheckAnswer, Rating, add_answers, read_answers, read_ratings
from foible.survey.answer_file import Row, read_rows
from foible.survey.key import Asks, Question, SurveyKey, key_of

WORDS: dict[Asks, str] = {"class": "a class", "ratings": "two ratings"}
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
    said = [_of_finding(row, q, q.finding) for row, q in asked if q.finding is not None]
    checks = [_of_check(row, q, q.expected) for row, q in asked if q.expected is not None]
    before = _before(run)
    collected = []
    for person in sorted({row.person for row, _ in asked}):
        mine = [s for s in said if s.person == person]
        right = [c.right for c in checks if c.person == person]
        attention = rate(sum(right), len(right))
        taken = keep_all or attention.share is None or attention.share >= ATTENTIVE
        replaced = sum((_kind(s), person, s.finding) in before for s in mine)
        collected.append(Collected(person, len(mine), replaced, attention, taken))
    trusted = {c.person for c in collected if c.taken}
    add_answers(
        run.layout,
        [s for s in said if isinstance(s, Answer) and s.person in trusted],
        checks,
        [s for s in said if isinstance(s, Rating) and s.person in trusted],
    )
    return collected


def _of_finding(row: Row, question: Question, finding: Key) -> Answer | Rating:
    if question.rated is None:
        return Answer(finding, row.person, row.said[0], row.given, row.seconds, row.survey)
    source, target = question.turn((row.said[0], row.said[1]))
    arm = "control" if question.control else "search"
    return Rating(finding, row.person, source, target, row.given, row.seconds, row.survey, arm)


def _of_check(row: Row, question: Question, expected: int) -> CheckAnswer:
    """An answer to a check: of two classes the one that is rated higher, and none when they are rated alike."""
    answer = row.said[0]
    if question.rated is not None:
        source, target = question.turn((row.said[0], row.said[1]))
        answer = NOTHING if source == target else question.rated[int(target > source)]
    return CheckAnswer(row.survey, row.item, row.person, answer, expected, row.seconds, row.given)


def _kind(said: Answer | Rating) -> str:
    return said.arm if isinstance(said, Rating) else "class"


def _before(run: Run) -> set[tuple[str, str, Key]]:
    """Who has answered for what, and how."""
    answers = read_answers(run.layout).by_person.items()
    ratings = [*read_ratings(run.layout), *read_ratings(run.layout, "control")]
    return {
        *(("class", person, finding) for person, mine in answers for finding in mine),
        *((_kind(rating), rating.person, rating.finding) for rating in ratings),
    }


def _asked(run: Run, rows: Sequence[Row]) -> list[tuple[Row, Question]]:
    """Every line with the question that it answers."""
    keys: dict[str, SurveyKey] = {}
    seen: dict[tuple[str, str, str], Row] = {}
    asked = []
    for row in rows:
        if row.survey not in keys:
            keys[row.survey] = key_of(run.layout, row.survey)
        key, name = keys[row.survey], (row.survey, row.item, row.person)
        if row.item not in key.questions:
            raise RecipeError(f"{row.place}: survey {key.survey} has no item '{row.item[:40]}'", "the file was edited")
        if row.asks != key.asks:
            raise RecipeError(f"{row.place}: survey {key.survey} asks for {WORDS[key.asks]}", "the file was edited")
        if key.asks == "class" and row.said[0] >= len(key.classes):
            raise RecipeError(f"{row.place}: there is no class {row.said[0]}", f"there are {len(key.classes)} classes")
        if name in seen:
            raise RecipeError(
                f"{row.place}: '{row.person}' has answered item '{row.item}' before, in {seen[name].place}",
                "give each file once; people who share a name need different ones",
            )
        seen[name] = row
        asked.append((row, key.questions[row.item]))
    return asked
