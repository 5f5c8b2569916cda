"""What people's ratings of two classes say: how far findings stand between them, and how far people agree about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from foible.metrics import Estimate, acceptability, ballots, bias, confusion_score, estimate, krippendorff_alpha
from foible.metrics.consensus import Level
from foible.metrics.ratings import HIGHEST, LOWEST
from foible.store.answers import CheckAnswer, Rating
from foible.survey.person import Frozen, Person, people
from foible.types import Key

ByPerson = Mapping[str, Mapping[Key, Rating]]


class RatingAgreement(Frozen):
    """Krippendorff's alpha of the ratings for one of the two classes, over the images with two or more."""

    about: Literal["source", "target"]
    level: Level
    alpha: Estimate


class RatingsReport(Frozen):
    """All that ratings say. The means are over images: each counts once, by the mean of what people say about it."""

    findings: int
    rated: int
    ratings: int
    fair: bool
    people: tuple[Person, ...]
    confusion: Estimate
    acceptability: Estimate
    bias: Estimate
    agreement: tuple[RatingAgreement, ...]


def ratings_report(
    ratings: Sequence[Rating], checks: Sequence[CheckAnswer], findings: int, fair: bool, rng: np.random.Generator
) -> RatingsReport:
    """Summarise ratings.

    Args:
        ratings: those of findings.
        checks: the answers to the attention checks among them.
        findings: how many the run has.
        fair: whether those that were shown are a random sample, if they are not all.
        rng: of the bootstrap.
    """
    said: dict[str, dict[Key, Rating]] = {}
    for rating in ratings:
        said.setdefault(rating.person, {})[rating.finding] = rating
    rated = len({rating.finding for rating in ratings})
    return RatingsReport(
        findings=findings,
        rated=rated,
        ratings=len(ratings),
        fair=fair or rated == findings,
        people=people(said, checks),
        confusion=_mean(confusion_score, ratings, rng),
        acceptability=_mean(acceptability, ratings, rng),
        bias=_mean(bias, ratings, rng),
        agreement=(_agreement("source", said, rng), _agreement("target", said, rng)),
    )


def _mean(score: Callable[[int, int], int], ratings: Sequence[Rating], rng: np.random.Generator) -> Estimate:
    by_image: dict[Key, list[int]] = {}
    for rating in ratings:
        by_image.setdefault(rating.finding, []).append(score(rating.source, rating.target))
    means = np.array([np.mean(by_image[key]) for key in sorted(by_image)])
    return estimate(len(means), lambda rows: float(means[rows].mean()), rng)


def _agreement(about: Literal["source", "target"], said: ByPerson, rng: np.random.Generator) -> RatingAgreement:
    given = [{key: getattr(rating, about) for key, rating in mine.items()} for mine in said.values()]
    table = ballots(given, range(LOWEST, HIGHEST + 1))
    table = table[table.sum(1) >= 2]
    alpha = estimate(len(table), lambda rows: krippendorff_alpha(table[rows], "ordinal"), rng)
    return RatingAgreement(about=about, level="ordinal", alpha=alpha)
