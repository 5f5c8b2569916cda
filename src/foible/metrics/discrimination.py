"""How well a score tells what people accept from what they reject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from foible.metrics.agreement import cohen_kappa
from foible.metrics.effect import vargha_delaney
from foible.metrics.rates import Rate, rate


@dataclass(frozen=True)
class Discrimination:
    """A validator beside people, on the `items` that both have judged.

    `auc` is the chance that an image people accept has a higher score than one they reject (ties count half);
    `true_accept` and `false_accept` are the shares it accepts of what people accept and of what they reject. What is
    not defined is None.
    """

    items: int
    auc: float | None
    true_accept: Rate
    false_accept: Rate
    kappa: float | None


def discrimination(scores: Sequence[float], accepted: Sequence[bool], truth: Sequence[bool]) -> Discrimination:
    """Compare scores and the decisions made from them with what people say, item by item."""
    decided = list(zip(accepted, truth, strict=True))
    of_good = [said for said, good in decided if good]
    of_bad = [said for said, good in decided if not good]
    return Discrimination(
        items=len(decided),
        auc=auc(scores, truth),
        true_accept=rate(sum(of_good), len(of_good)),
        false_accept=rate(sum(of_bad), len(of_bad)),
        kappa=cohen_kappa(decided) if decided else None,
    )


def auc(scores: Sequence[float], truth: Sequence[bool]) -> float | None:
    """The area under the ROC curve, which is Vargha and Delaney's A of the two kinds; None without both.

    >>> auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875
    """
    numbers, good = np.asarray(scores, dtype=np.float64), np.asarray(truth, dtype=bool)
    return vargha_delaney(numbers[good].tolist(), numbers[~good].tolist())
