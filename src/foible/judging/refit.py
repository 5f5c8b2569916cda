"""Refit the judge to the answers of one's own people.

Three judges are compared by ten-fold cross-validation, each image decided by a judge that was fitted without it: as it is;
with thresholds moved; with the evidence weighed anew and thresholds moved. Weights are drawn towards those that it has: a hundred
answers may correct a judge, not replace it. The best of the three is written. What it does not know yet is where the ten
judges of the cross-validation disagree: an answer there changes most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from foible.metrics.agreement import cohen_kappa
from foible.survey.recalibrate import FEWEST, FOLDS, balanced_error, best_threshold
from foible.validators.calibration import USUAL
from foible.validators.evidence import Evidence
from foible.validators.parts import Weighing, kept_score

How = Literal["as it is", "thresholds", "weights and thresholds"]
HOW: tuple[How, ...] = ("as it is", "thresholds", "weights and thresholds")
HOLD = 5.0  # how strongly weights are drawn to those of the judge, in answers
UNKNOWN = -1


@dataclass(frozen=True)
class Answered:
    """Images that people have answered about: scaled evidence, expected labels, and what the majority says.

    `valid` and `kept` (N,) are 1, 0, or UNKNOWN where people are divided; `named` (N,) is the class most name, or UNKNOWN.
    """

    evidence: Evidence
    labels: Tensor
    valid: Tensor
    kept: Tensor
    named: Tensor

    def rows(self, index: Tensor) -> Answered:
        """Those at these positions."""
        return Answered(self.evidence[index], *(t[index] for t in (self.labels, self.valid, self.kept, self.named)))

    def truth(self, about: str) -> Tensor:
        """What people say about the image or the label (N,)."""
        return self.valid if about == "image" else self.kept


@dataclass(frozen=True)
class Line:
    """A judge with its thresholds."""

    weighing: Weighing
    image: float = USUAL
    label: float = USUAL

    def scores(self, evidence: Evidence, labels: Tensor) -> dict[str, Tensor]:
        """Validity and kept score (N,)."""
        validity = self.weighing.validity(evidence.table)
        return {
            "image": validity,
            "label": kept_score(validity, self.weighing.classes(evidence.sources), labels),
        }

    def accepts(self, evidence: Evidence, labels: Tensor) -> dict[str, Tensor]:
        """Decisions (N,) about the image and the label."""
        said = self.scores(evidence, labels)
        return {"image": said["image"] >= self.image, "label": said["label"] >= self.label}


@dataclass(frozen=True)
class Agreement:
    """How far a judge agrees with people about one thing, on images it was not fitted on."""

    how: How
    about: str
    n: int
    kappa: float | None
    error: float  # balanced


@dataclass(frozen=True)
class Refit:
    """The best judge, how the three compare, and how unsure the best one is of images nobody has answered about."""

    line: Line
    how: How
    agreement: tuple[Agreement, ...]
    committee: tuple[Line, ...]


def refit(start: Weighing, answered: Answered) -> Refit:
    """The judge that agrees best with people, by cross-validation."""
    fold = torch.arange(len(answered.labels)) % FOLDS
    committees = {
        how: [fit(start, answered.rows((fold != k).nonzero()[:, 0]), how) for k in range(FOLDS)] for how in HOW
    }
    agreement = [a for how in HOW for a in _agreement(how, committees[how], answered, fold)]

    def error(how: How) -> float:
        return sum(a.error for a in agreement if a.how == how)

    best = min(HOW, key=error)  # the first of equals: what changes least
    return Refit(fit(start, answered, best), best, tuple(agreement), tuple(committees[best]))


def _agreement(how: How, committee: list[Line], answered: Answered, fold: Tensor) -> list[Agreement]:
    found = []
    for about in ("image", "label"):
        truth = answered.truth(about)
        said = torch.zeros(len(truth), dtype=torch.bool)
        for k, line in enumerate(committee):
            mine = (fold == k).nonzero()[:, 0]
            said[mine] = line.accepts(answered.evidence[mine], answered.labels[mine])[about]
        known = truth != UNKNOWN
        if fittable(truth):
            accepted, yes = said[known].numpy(), (truth[known] == 1).numpy()
            kappa = cohen_kappa(list(zip(accepted.tolist(), yes.tolist(), strict=True)))
            found.append(Agreement(how, about, int(known.sum()), kappa, balanced_error(accepted, yes)))
    return found


def fittable(truth: Tensor) -> bool:
    """Whether people have said yes and no often enough."""
    return min(int((truth == 1).sum()), int((truth == 0).sum())) >= FEWEST


def fit(start: Weighing, answered: Answered, how: How) -> Line:
    """One of the three judges, fitted to answers; what they are too few for stays as it is."""
    if how == "as it is":
        return Line(start)
    weighing = reweighed(start, answered) if how == "weights and thresholds" else start
    line = Line(weighing)
    scores = line.scores(answered.evidence, answered.labels)
    moved = dict.fromkeys(scores, USUAL)
    for about, score in scores.items():
        truth = answered.truth(about)
        known = truth != UNKNOWN
        if min(int((truth == 1).sum()), int((truth == 0).sum())) >= 2:
            moved[about] = best_threshold(score[known].double().numpy(), (truth[known] == 1).numpy())
    return Line(weighing, moved["image"], moved["label"])


def reweighed(start: Weighing, answered: Answered, asked: Tensor | None = None) -> Weighing:
    """Weights of the evidence and trust in the sources, drawn towards those that the judge has.

    Args:
        start: the judge as it is.
        answered: what people say.
        asked: columns of the evidence (columns,) that may have a weight; left out, all may.
    """
    weights, bias, trust = start.weights, start.bias, start.trust
    bounds = [(0.0, None if may else 0.0) for may in (torch.ones_like(weights) if asked is None else asked)]
    known = (answered.valid != UNKNOWN).nonzero()[:, 0]
    if len(known):
        table, yes = answered.evidence.table[known].double(), answered.valid[known].double()
        share = torch.where(yes == 1, 0.5 / yes.mean().clamp_min(1e-9), 0.5 / (1 - yes).mean().clamp_min(1e-9))
        begin = torch.cat([weights, bias[None]]).double()

        def cost(values: Tensor) -> Tensor:
            margin = table @ values[:-1] + values[-1]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(margin, yes, share, reduction="sum")
            return loss + HOLD * (values[:-1] - begin[:-1]).square().sum()

        found = _least(cost, begin, [*bounds, (None, None)])
        weights, bias = found[:-1].float(), found[-1].float()
    named = (answered.named >= 0).nonzero()[:, 0]
    if len(named):
        sources, classes = answered.evidence.sources[named].double(), answered.named[named]

        def surprise(values: Tensor) -> Tensor:
            logits = (sources * values[None, :, None]).sum(1)
            return torch.nn.functional.cross_entropy(logits, classes, reduction="sum") + HOLD * (
                (values - trust.double()).square().sum()
            )

        trust = _least(surprise, trust.double(), [(0.05, 2.0)] * len(trust)).float()
    return Weighing(weights, bias, trust)


def _least(
    cost: Callable[[Tensor], Tensor], begin: Tensor, bounds: Sequence[tuple[float | None, float | None]]
) -> Tensor:
    """Where a smooth cost is least, within bounds."""

    def value_and_slope(values: np.ndarray) -> tuple[float, np.ndarray]:
        point = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        value = cost(point)
        (slope,) = torch.autograd.grad(value, point)
        return float(value.detach()), slope.numpy()

    found = minimize(value_and_slope, begin.numpy(), jac=True, bounds=bounds, method="L-BFGS-B")
    return torch.tensor(found.x)


def doubt(committee: tuple[Line, ...], line: Line, evidence: Evidence, labels: Tensor) -> Tensor:
    """How much an answer would change (N,): how divided the judges of the cross-validation are, then how close the call is."""
    votes = [c.accepts(evidence, labels) for c in committee]
    divided = torch.zeros(len(labels))
    for about in ("image", "label"):
        share = torch.stack([v[about] for v in votes]).float().mean(0)
        divided += share * (1 - share)
    said = line.scores(evidence, labels)
    close = torch.minimum((said["image"] - line.image).abs(), (said["label"] - line.label).abs())
    return divided + (1 - close).clamp(0, 1) / 100
