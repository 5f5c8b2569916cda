"""In which order to look at test inputs, and which few are enough: by what they cover, or by how unsure the model is.

CTM takes inputs that cover most first, CAM always the one that adds most to those before it (Rothermel et al., TSE 2001).
DeepGini (Feng et al., ISSTA 2020) takes those first whose probabilities are most even; it knows nothing of coverage and
finds failures sooner in most comparisons (Weiss and Tonella, ISSTA 2022), so it stands beside every such order.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.errors import DataError

Numbers = NDArray[np.int64]


def by_score(scores: Tensor) -> Tensor:
    """Inputs (N,) with the largest score first; equal ones in the order they came (CTM, and DeepGini)."""
    return torch.argsort(scores, descending=True, stable=True)


def by_addition(hits: Sequence[Numbers]) -> tuple[Tensor, int]:
    """CAM: each time the input that adds most cells; then the rest by how many they hit. And how many of them add any.

    The first so many are a greedy solution of set cover: a smaller suite with the same coverage.

    Args:
        hits: for each input the numbers of the cells it hits, none twice.
    """
    waiting = [(-len(cells), number) for number, cells in enumerate(hits)]
    heapq.heapify(waiting)
    size = 1 + max((int(cells.max()) for cells in hits if len(cells)), default=-1)
    covered, chosen = np.zeros(size, dtype=bool), list[int]()
    while waiting:
        _, number = heapq.heappop(waiting)
        added = int((~covered[hits[number]]).sum())
        # what an input adds only shrinks: if it still beats what the next one promised, nobody adds more
        if waiting and (-added, number) > waiting[0]:
            if added:
                heapq.heappush(waiting, (-added, number))
            continue
        if not added:
            break
        covered[hits[number]] = True
        chosen.append(number)
    scores = torch.tensor([len(cells) for cells in hits])
    scores[chosen] = -1
    rest = by_score(scores)[: len(hits) - len(chosen)]
    return torch.cat([torch.tensor(chosen, dtype=torch.int64), rest]), len(chosen)


def deepgini(probabilities: Tensor) -> Tensor:
    """How even each input's class probabilities (N, classes) are: 0 for a certain answer."""
    return 1 - probabilities.square().sum(1)


def apfd(order: Tensor, failures: Tensor) -> float:
    """Average percentage of faults detected: 1/2 for chance, nearly 1 where all failures come first.

    Args:
        order: a permutation of the inputs (N,).
        failures: which inputs fail (N,).
    """
    total, failing = len(failures), int(failures.sum())
    if not failing:
        raise DataError("no input fails: the order of failures means nothing", "measure a suite with failures in it")
    places = failures[order].nonzero()[:, 0] + 1
    return 1 - float(places.sum()) / (failing * total) + 1 / (2 * total)
