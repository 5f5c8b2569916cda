"""What people say about a run, how far they agree, and how good its validators are beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Literal

import numpy as np

from foible.errors import RecipeError
from foible.metrics import Estimate, Rate, ballots, estimate, fleiss_kappa, krippendorff_alpha, rate
from foible.metrics.agreement import cohen_kappa
from foible.metrics.consensus import Ballots
from foible.metrics.resampling import Rows
from foible.records import Key
from foible.store import Run
from foible.store.answers import NOTHING, Answers, CheckAnswer, read_answers, read_checks, read_ratings
from foible.store.reader import FindingLine
from foible.survey.key import Asks, load_keys
from foible.survey.person import Frozen, Person, people
from foible.survey.ratings import RatingsReport, ratings_report
from foible.survey.rescore import ValidatorScore, rescore

About = Literal["class", "image", "label"]
ByPerson = Mapping[str, Mapping[Key, int]]


class Pair(Frozen):
    """Cohen's kappa of two people on the images both have answered."""

    first: str
    second: str
    share: float | None
    kappa: Estimate


class AgreementReport(Frozen):
    """How far people agree about one thing: the class, whether the image is valid, whether its label is kept.

    `fleiss` is over the images that everybody has answered, `alpha` over all with two answers or more.
    """

    about: About
    pairs: tuple[Pair, ...]
    fleiss: Estimate
    alpha: Estimate


class PeopleReport(Frozen):
    """All that people's answers say. `valid` and `kept` are over the findings where a majority decided.

    `ratings` is what people say who were asked how much an image looks like two classes; None when nobody was.
    """

    findings: int
    asked: int
    answers: int
    fair: bool
    people: tuple[Person, ...]
    valid: Rate
    valid_undecided: int
    kept: Rate
    kept_undecided: int
    valid_answers: Estimate
    kept_answers: Estimate
    agreement: tuple[AgreementReport, ...]
    validators: tuple[ValidatorScore, ...]
    ratings: RatingsReport | None = None


def people_report(run: Run, seed: int = 0) -> PeopleReport:
    """Read the answers of a run, from surveys and from the workbench, and summarise them."""
    answers, ratings = read_answers(run.layout), read_ratings(run.layout)
    surveys = load_keys(run.layout)
    checks: dict[Asks, list[CheckAnswer]] = {"class": [], "ratings": []}
    for check in read_checks(run.layout):
        checks[surveys[check.survey].asks if check.survey in surveys else "class"].append(check)
    if not answers.by_person and not ratings and not any(checks.values()):
        raise RecipeError(
            f"nobody has answered for '{run.layout.folder}' yet", f"ask people: foible survey {run.layout.folder}"
        )
    lines = run.index()
    labels = {line.key: line.label for line in lines}
    ratings = [rating for rating in ratings if rating.finding in labels]
    controls = [rating for rating in read_ratings(run.layout, "control") if rating.finding in labels]
    said = {p: {a: v for a, v in mine.items() if a in labels} for p, mine in answers.by_person.items()}
    asked = [line for line in lines if answers.votes(line.key)]
    fair = {asks: not any(k.asks == asks and k.order == "unsure" for k in surveys.values()) for asks in checks}
    rng = np.random.default_rng(seed)
    valid, kept = valid_share(asked, answers), kept_share(asked, answers)
    questions: dict[About, ByPerson] = {
        "class": said,
        "image": {p: {a: int(v != NOTHING) for a, v in mine.items()} for p, mine in said.items()},
        "label": {p: {a: int(v == labels[a]) for a, v in mine.items()} for p, mine in said.items()},
    }
    return PeopleReport(
        findings=len(lines),
        asked=len(asked),
        answers=sum(map(len, said.values())),
        fair=fair["class"] or len(asked) == len(lines),
        people=people(said, checks["class"]),
        valid=valid,
        valid_undecided=len(asked) - valid.total,
        kept=kept,
        kept_undecided=len(asked) - kept.total,
        valid_answers=_share_of_answers(questions["image"], rng),
        kept_answers=_share_of_answers(questions["label"], rng),
        agreement=tuple(_agreement(about, by_person, rng) for about, by_person in questions.items()),
        validators=rescore(asked, answers),
        ratings=ratings_report(ratings, checks["ratings"], len(lines), fair["ratings"], rng, controls)
        if ratings or checks["ratings"]
        else None,
    )


def valid_share(lines: list[FindingLine], answers: Answers) -> Rate:
    """How many findings show one of the classes, of those where a majority decided."""
    decided = [v for line in lines if (v := answers.valid(line.key)) is not None]
    return rate(sum(decided), len(decided))


def kept_share(lines: list[FindingLine], answers: Answers) -> Rate:
    """How many findings show the expected class, of those where a majority decided."""
    decided = [k for line in lines if (k := answers.kept(line.key, line.label)) is not None]
    return rate(sum(decided), len(decided))


def _agreement(about: About, by_person: ByPerson, rng: np.random.Generator) -> AgreementReport:
    table = ballots(by_person.values())
    full = table[table.sum(1) == len(by_person)]
    paired = table[table.sum(1) >= 2]
    return AgreementReport(
        about=about,
        pairs=tuple(_pair(a, b, by_person[a], by_person[b], rng) for a, b in combinations(sorted(by_person), 2)),
        fleiss=estimate(len(full), _of_rows(fleiss_kappa, full), rng),
        alpha=estimate(len(paired), _of_rows(krippendorff_alpha, paired), rng),
    )


def _pair(
    first: str, second: str, ours: Mapping[Key, int], theirs: Mapping[Key, int], rng: np.random.Generator
) -> Pair:
    both = [(ours[item], theirs[item]) for item in sorted(ours.keys() & theirs.keys())]
    kappa = estimate(len(both), lambda rows: cohen_kappa([both[k] for k in rows]), rng)
    return Pair(
        first=first, second=second, share=sum(a == b for a, b in both) / len(both) if both else None, kappa=kappa
    )


def _share_of_answers(by_person: ByPerson, rng: np.random.Generator) -> Estimate:
    """The share of yes among all answers, resampled over images."""
    items = sorted({item for mine in by_person.values() for item in mine})
    votes = [[mine[item] for mine in by_person.values() if item in mine] for item in items]
    yes, asked = np.array([sum(v) for v in votes]), np.array([len(v) for v in votes])
    return estimate(len(items), lambda rows: float(yes[rows].sum() / asked[rows].sum()), rng)


def _of_rows(coefficient: Callable[[Ballots], float | None], table: Ballots) -> Callable[[Rows], float | None]:
    return lambda rows: coefficient(table[rows])
