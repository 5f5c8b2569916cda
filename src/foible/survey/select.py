"""Which findings people are asked about, and which real images check their attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from foible.store.reader import FindingLine

Order = Literal["unsure", "shuffled"]
CHECKS_PER_IMAGE = 1 / 9  # one question in ten


def select(lines: Sequence[FindingLine], count: int, order: Order, rng: np.random.Generator) -> list[FindingLine]:
    """Up to `count` findings in shuffled order.

    "unsure" takes those whose verdicts were closest calls: what is learnt there moves a threshold most, but it is no
    random sample, so shares among them do not hold for all findings. "shuffled" is one. Findings without verdicts are
    equally unsure and come after the others.
    """
    mixed = [lines[k] for k in rng.permutation(len(lines))]
    if order == "unsure":
        mixed.sort(key=doubt)
    chosen = mixed[:count]
    return [chosen[k] for k in rng.permutation(len(chosen))]


def doubt(line: FindingLine) -> float:
    """How close the closest call was: |score - threshold| of the judge, or of any validator where there is no judge."""
    fused = [v for v in line.verdicts if v.validator == "judge"]
    return min((abs(v.score - v.threshold) for v in fused or line.verdicts), default=math.inf)


def spread_checks(images: int, checks: int, rng: np.random.Generator) -> list[bool]:
    """Which of the `images + checks` questions are checks: one somewhere in each of equal stretches, never bunched."""
    total = images + checks
    marks = [False] * total
    edges = np.linspace(0, total, checks + 1).astype(int)
    for low, high in pairwise(edges.tolist()):
        marks[int(rng.integers(low, high))] = True
    return marks
