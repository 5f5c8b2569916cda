"""What people's ratings of two classes say: how far findings stand between them, and how far people agree about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from foible.metrics import Estimate, acceptability, ballots, bias, confusion_score, estimate, krippendorff_alpha
from foible.metrics.consensus import Level
from foible.metrics.ratings import HIGHEST, LOWEST
from foible.records import Key
from foible.store.answers import CheckAnswer, Rating
from foible.survey.person import Frozen, Person, people

ByPerson = Mapping[str, Mapping[Key, Rating]]


class RatingAgreement(Frozen):
    """Krippendorff's alpha of the ratings for one of the two classes, over the images with two or more."""

    about: Literal["source", "target"]
    level: Level
    alpha: Estimate


LONGEST = 30.0  # seconds: whoever took longer was away, as published


class Scores(Frozen):
    """Means over images: each counts once, by the mean of what people say about it, and how long they took."""

    images: int
    confusion: Estimate
    acceptability: Estimate
    bias: Estimate
    seconds: Estimate


class RatingsReport(Frozen):
    """All that ratings say. The means are over images: each counts once, by the mean of what people say about it.

    `control` is the same of the origins as the generator makes them, where people were shown those too.
    """

    findings: int
    rated: int
    ratings: int
    fair: bool
    people: tuple[Person, ...]
    confusion: Estimate
    acceptability: Estimate
    bias: Estimate
    seconds: Estimate
    agreement: tuple[RatingAgreement, ...]
    control: Scores | None = None


def ratings_report(
    ratings: Sequence[Rating],
    checks: Sequence[CheckAnswer],
    findings: int,
    fair: bool,
    rng: np.random.Generator,
    controls: Sequence[Rating] = (),
) -> RatingsReport:
    """Summarise ratings.

    Args:
        ratings: those of findings.
        checks: the answers to the attention checks among them.
        findings: how many the run has.
        fair: whether those that were shown are a random sample, if they are not all.
        rng: of the bootstrap.
        controls: ratings of origins as the generator makes them.
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
        seconds=_over_images(image_seconds(ratings), rng),
        control=scores_of(controls, rng) if controls else None,
    )


def scores_of(ratings: Sequence[Rating], rng: np.random.Generator) -> Scores:
    """The four scores of some ratings."""
    means = [_mean(score, ratings, rng) for score in (confusion_score, acceptability, bias)]
    return Scores(
        images=len({rating.finding for rating in ratings}),
        confusion=means[0],
        acceptability=means[1],
        bias=means[2],
        seconds=_over_images(image_seconds(ratings), rng),
    )


def image_means(score: Callable[[int, int], int], ratings: Sequence[Rating]) -> dict[Key, float]:
    """The mean score of each image."""
    by_image: dict[Key, list[int]] = {}
    for rating in ratings:
        by_image.setdefault(rating.finding, []).append(score(rating.source, rating.target))
    return {key: float(np.mean(by_image[key])) for key in sorted(by_image)}


def image_seconds(ratings: Sequence[Rating]) -> dict[Key, float]:
    """How long people took for each image on average, without those who took half a minute or more."""
    by_image: dict[Key, list[float]] = {}
    for rating in ratings:
        if rating.seconds is not None and rating.seconds < LONGEST:
            by_image.setdefault(rating.finding, []).append(rating.seconds)
    return {key: float(np.mean(by_image[key])) for key in sorted(by_image)}


def _mean(score: Callable[[int, int], int], ratings: Sequence[Rating], rng: np.random.Generator) -> Estimate:
    return _over_images(image_means(score, ratings), rng)


def _over_images(by_image: Mapping[Key, float], rng: np.random.Generator) -> Estimate:
    means = np.array(list(by_image.values()))
    return estimate(len(means), lambda rows: float(means[rows].mean()), rng)


def _agreement(about: Literal["source", "target"], said: ByPerson, rng: np.random.Generator) -> RatingAgreement:
    given = [{key: getattr(rating, about) for key, rating in mine.items()} for mine in said.values()]
    table = ballots(given, range(LOWEST, HIGHEST + 1))
    table = table[table.sum(1) >= 2]
    alpha = estimate(len(table), lambda rows: krippendorff_alpha(table[rows], "ordinal"), rng)
    return RatingAgreement(about=about, level="ordinal", alpha=alpha)
