"""Are the training labels of two classes polluted? What escapes and depths of all pairs say about one of them.

The effort of an escape is the evaluations that it took; perturbations grow with them.

With a clean twin (a model trained the same way on labels that are right): Fisher's exact test of two proportions, one-sided,
of the escapes between the two classes in both models, within the effort at which half of the origins of both have escaped
(Mood's median test): neither an easy pair nor a hard one escapes it.

Without one: of two figures of every pair, its depth and its share of escapes within the effort at which half of all origins
have escaped, a straight line is fitted against the logarithm of the
latent distance of the classes, and a pair is judged by its externally studentised residual (the line is that of the other
pairs; Student's t, one-sided). The smaller p-value of the two counts twice.

Both are corrected for the number of pairs by Holm's rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foible.errors import RecipeError
from foible.metrics import Rate, corrected, rate
from foible.store import Run
from foible.types import Status

LEVEL = 0.05  # of the alarm, over all pairs together
FEWEST_PAIRS = 6
SHALLOWEST = 0.05  # log-odds: a depth is not below
Pair = tuple[int, int]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Suspicion:
    """What is held against a pair of classes; the pair is the smaller number first.

    `expected` is what the twin shows, or what the other pairs let expect: a share of escapes with a twin, else a depth.
    """

    pair: Pair
    escaped: Rate
    depth: float
    expected: float
    p: float
    corrected: float

    @property
    def alarm(self) -> bool:
        """Whether it is more than chance, all pairs considered."""
        return self.corrected <= LEVEL


Efforts = Mapping[Pair, Sequence[float]]


def efforts(run: Run) -> dict[Pair, list[float]]:
    """What escapes between two classes took, both ways together, of origins that the model gets right; infinite: held.

    An origin that the model gets right and that leans towards the target already has escaped without any effort.
    """
    found: dict[Pair, list[float]] = {}
    for outcome in run.outcomes():
        if outcome.target < 0 or outcome.origin_predicted != outcome.label:
            continue
        pair = min(outcome.label, outcome.target), max(outcome.label, outcome.target)
        held = outcome.status is Status.HELD
        found.setdefault(pair, []).append(math.inf if held else float(outcome.evaluations))
    return dict(sorted(found.items()))


def escaped(taken: Sequence[float], limit: float) -> Rate:
    """The share of origins that escaped within a limit.

    >>> escaped([0, 10, 30, math.inf], 10).share
    0.5
    """
    return rate(sum(effort <= limit for effort in taken), len(taken))


def usual_effort(*taken: Sequence[float]) -> float:
    """The effort within which at least half of all these origins have escaped, but never more than the largest seen."""
    every = sorted(effort for some in taken for effort in some)
    finite = [effort for effort in every if math.isfinite(effort)]
    if not finite:
        return 0.0
    return min(every[len(every) // 2], finite[-1])


def against_twin(suspect: Efforts, twin: Efforts, depths: Mapping[Pair, float]) -> list[Suspicion]:
    """Two-proportion tests of every pair, the most suspicious first."""
    from scipy.stats import fisher_exact

    pairs = [pair for pair in suspect if pair in twin]
    shares, expected, p_values = {}, [], []
    for pair in pairs:
        limit = usual_effort(suspect[pair], twin[pair])
        ours, theirs = (escaped(one[pair], limit) for one in (suspect, twin))
        table = [[one.count, one.total - one.count] for one in (ours, theirs)]
        p_values.append(float(fisher_exact(table, alternative="greater").pvalue))
        shares[pair] = ours
        expected.append(theirs.share or 0.0)
    return _ranked(pairs, shares, depths, expected, p_values)


def among_pairs(taken: Efforts, depths: Mapping[Pair, float], apart: Mapping[Pair, float]) -> list[Suspicion]:
    """Every pair against the others, the most suspicious first."""
    pairs = [pair for pair in depths if np.isfinite(depths[pair])]
    if len(pairs) < FEWEST_PAIRS:
        raise RecipeError(
            f"{len(pairs)} pairs of classes are too few to tell which of them stands out",
            f"without a twin at least {FEWEST_PAIRS} pairs (4 classes) are needed: name one with --twin",
        )
    distance = np.log([apart[pair] for pair in pairs])
    deep = np.log(np.maximum([depths[pair] for pair in pairs], SHALLOWEST))
    limit = usual_effort(*taken.values())
    shares = [escaped(taken.get(pair, ()), limit) for pair in pairs]
    odds = np.array([np.log((s.count + 0.5) / (s.total - s.count + 0.5)) for s in shares])
    by_depth, by_escapes = lower_than_others(deep, distance), lower_than_others(-odds, distance)
    p_values = np.minimum(1.0, 2 * np.minimum(by_depth.p, by_escapes.p)).tolist()
    return _ranked(pairs, dict(zip(pairs, shares, strict=True)), depths, np.exp(by_depth.expected).tolist(), p_values)


@dataclass(frozen=True)
class Line:
    """What the other points let expect of each, and how likely it is that one lies so low by chance."""

    expected: Numbers
    p: Numbers


def lower_than_others(values: Numbers, against: Numbers) -> Line:
    """One-sided p-values of externally studentised residuals from a straight line."""
    from scipy.stats import t

    design = np.stack([np.ones_like(against), against], 1)
    hat = design @ np.linalg.pinv(design)
    residual, leverage = values - hat @ values, np.clip(np.diag(hat), 0, 1 - 1e-9)
    freedom = len(values) - design.shape[1] - 1
    spread = np.sqrt(np.maximum(residual @ residual - residual**2 / (1 - leverage), 1e-18) / freedom)
    studentised = residual / (spread * np.sqrt(1 - leverage))
    return Line(values - residual / (1 - leverage), t.cdf(studentised, freedom))


def _ranked(
    pairs: Sequence[Pair],
    escapes: Mapping[Pair, Rate],
    depths: Mapping[Pair, float],
    expected: Sequence[float],
    p_values: Sequence[float],
) -> list[Suspicion]:
    rows = zip(pairs, expected, p_values, corrected(p_values), strict=True)
    found = [Suspicion(pair, escapes[pair], depths.get(pair, float("nan")), e, p, q) for pair, e, p, q in rows]
    return sorted(found, key=lambda s: (s.p, s.pair))
