"""A run-time selector: a random forest that says, for an image, whom of two models to believe.

As published for DiffGAN: 100 trees on features of the image, trained on disagreements of which exactly one model is right. It
is measured on folds that it did not see, beside what costs nothing: always the model that wins more often, and the more
confident of the two. Accuracy alone flatters a selector where one model wins most of the time, so the balanced accuracy
(the mean over both kinds of images) stands beside it: always choosing one model has 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.differing.answers import Answers
from foible.errors import DataError, MissingExtra
from foible.metrics.rates import Rate, rate

TREES, FOLDS = 100, 5
FEWEST = 10  # images of each kind


@dataclass(frozen=True)
class Choice:
    """A way to choose: how often it chose the model that was right, and the mean of that over both kinds of images."""

    name: str
    accuracy: Rate
    balanced: float


@dataclass(frozen=True)
class Selector:
    """The forest's choices beside those of the baselines, all on the same images."""

    features: str
    only_a: int
    only_b: int
    choices: tuple[Choice, ...]


def measured_selector(
    features: Tensor, name: str, answers: Answers, confident_a: Tensor, confident_b: Tensor, seed: int = 0
) -> Selector:
    """Train and measure the forest.

    Args:
        features: of the images that both were asked about (N, features).
        name: what made the features.
        answers: what both said, and what is expected.
        confident_a: A's largest probability (N,).
        confident_b: B's.
        seed: of the folds and the trees.
    """
    known = answers.differ & (answers.expected >= 0)
    right_a, right_b = answers.a == answers.expected, answers.b == answers.expected
    rows = (known & (right_a ^ right_b)).nonzero()[:, 0]
    truth = right_b[rows].numpy()
    only_a, only_b = int((~truth).sum()), int(truth.sum())
    if min(only_a, only_b) < FEWEST:
        raise DataError(
            f"a selector needs {FEWEST} images on which only A is right and as many for B, there are {only_a} and {only_b}",
            "search longer (--attempts), or ask people: foible survey RUN",
        )
    forest = _out_of_fold(features[rows].numpy(), truth, seed)
    sure = (confident_b > confident_a)[rows].numpy()
    always = np.full_like(truth, only_b > only_a)
    said = {"forest": forest, "always the better one": always, "the more confident one": sure}
    return Selector(name, only_a, only_b, tuple(_choice(k, v, truth) for k, v in said.items()))


def _out_of_fold(features: NDArray[np.float32], truth: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """What a forest says of each image that was trained on the other folds."""
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.model_selection import StratifiedKFold, cross_val_predict
    except ImportError:
        raise MissingExtra("scikit-learn", "training", "the run-time selector") from None
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    forest = RandomForestClassifier(TREES, random_state=seed)
    said: NDArray[np.bool_] = cross_val_predict(forest, features, truth, cv=folds).astype(bool)
    return said


def _choice(name: str, said: NDArray[np.bool_], truth: NDArray[np.bool_]) -> Choice:
    right = said == truth
    balanced = (right[truth].mean() + right[~truth].mean()) / 2
    return Choice(name, rate(int(right.sum()), len(right)), float(balanced))


def confidences(probabilities: Tensor) -> Tensor:
    """The largest probability of each row (N,)."""
    largest: Tensor = probabilities.amax(1) if len(probabilities) else torch.empty(0)
    return largest
