"""Fit the thresholds of a validator to people.

The threshold is the one with the smallest balanced error, the mean of the share of people's yes that it rejects and the
share of people's no that it accepts: unlike plain error, it cannot be made small by always saying what is most frequent.
The error is measured by ten-fold cross-validation, each image decided by a threshold that was fitted without it. Every
kind needs ten findings that people accept and ten that they reject; with fewer, the threshold would be noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foible.errors import RecipeError
from foible.store import Run
from foible.store.answers import read_answers
from foible.survey.rescore import Case, cases
from foible.validators.calibration import USUAL, Calibration, FittedThreshold

FEWEST = 10  # findings of either kind
FOLDS = 10
ABOUT: tuple[Literal["image", "label"], ...] = ("image", "label")

Scores = NDArray[np.float64]
Truth = NDArray[np.bool_]


@dataclass(frozen=True)
class Recalibrated:
    """What could be fitted, and why the rest could not."""

    calibration: Calibration
    skipped: tuple[str, ...]


def recalibrated(run: Run, validator: str = "judge") -> Recalibrated:
    """Fit what people's answers allow; if they allow nothing, say what is missing."""
    found = [c for c in cases(run.index(), read_answers(run.layout)) if c.verdict.validator == validator]
    fitted: dict[str, FittedThreshold] = {}
    skipped = []
    for about in ABOUT:
        mine = [c for c in found if c.verdict.about == about]
        good = sum(c.truth for c in mine)
        if min(good, len(mine) - good) < FEWEST:
            skipped.append(
                f"{about}: {good} accepted and {len(mine) - good} rejected by people with a verdict of "
                f"'{validator}', {FEWEST} of each are needed"
            )
        else:
            fitted[about] = _fit(mine, validator)
    if not fitted:
        raise RecipeError("too few answers to fit a threshold: " + "; ".join(skipped), "ask about more failures")
    return Recalibrated(Calibration(**fitted), tuple(skipped))


def _fit(mine: list[Case], validator: str) -> FittedThreshold:
    scores, truth = np.array([c.verdict.score for c in mine]), np.array([c.truth for c in mine])
    return FittedThreshold(
        threshold=round(best_threshold(scores, truth), 6),
        validator=validator,
        n=len(mine),
        accepted=int(truth.sum()),
        error=round(cross_validated_error(scores, truth), 6),
    )


def best_threshold(scores: Scores, truth: Truth) -> float:
    """The threshold, halfway between two scores, with the smallest balanced error; of equals the one nearest to 0.5."""
    distinct = np.unique(scores)
    halfway = np.concatenate([(distinct[:-1] + distinct[1:]) / 2, distinct[:1]])
    return float(min(halfway, key=lambda t: (balanced_error(scores >= t, truth), abs(t - USUAL))))


def balanced_error(accepted: Truth, truth: Truth) -> float:
    """The mean of the shares of wrong decisions among people's yes and among people's no."""
    return float(((~accepted[truth]).mean() + accepted[~truth].mean()) / 2)


def cross_validated_error(scores: Scores, truth: Truth) -> float:
    """The balanced error on images that the threshold has not seen; folds hold equal parts of yes and no."""
    fold = np.empty(len(truth), dtype=np.int64)
    for kind in (truth, ~truth):
        fold[kind] = np.arange(int(kind.sum())) % FOLDS
    accepted = np.empty(len(truth), dtype=bool)
    for k in range(FOLDS):
        held_out = fold == k
        accepted[held_out] = scores[held_out] >= best_threshold(scores[~held_out], truth[~held_out])
    return balanced_error(accepted, truth)
