"""A transcription of DiffGAN's published search loop, to measure against; written from its description.

NSGA-II by pymoo as published (population 100, box from -1 to 1, simulated binary crossover, mutation of every tenth child). Every
generation: decode, stretch every image to [0, 1], ask both models, cluster the archive and 100 real images anew (UMAP to two
dimensions with 5 neighbours, then HDBSCAN of at least 3), and compare every child with every cluster's representative, one call
for each pair. Parents keep the scores of their birth. Only the GAN and the classifiers are foible's, so that both sides search
the same; they are called directly, where the published code pays 0.1 s for every call, and the loop does not stop
where everything is noise. Both are in its favour.

Needs umap-learn: `pip install umap-learn`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from sklearn.cluster import HDBSCAN
from sklearn.metrics.pairwise import cosine_similarity
from torch import Tensor

Array = NDArray[np.float64]
REAL = 100  # images that stand in while the archive is small


@dataclass
class Loop(Problem):  # type: ignore[misc]
    """The problem that pymoo is given: two columns to minimise, and an archive that grows as it is evaluated."""

    decode: Callable[[Tensor], Tensor]
    models: tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]
    real: Array
    archive: dict[tuple[float, ...], tuple[int, int]] = field(default_factory=dict)
    evaluated: int = 0

    def __post_init__(self) -> None:
        super().__init__(n_var=100, n_obj=2, xl=-1.0, xu=1.0)

    def _evaluate(self, x: Array, out: dict[str, Any], *_: Any, **__: Any) -> None:
        with torch.no_grad():
            images = self.decode(torch.from_numpy(x).float())
            low, high = (f(images.flatten(1), 1).values[:, None, None, None] for f in (torch.min, torch.max))
            shown = (images - low) / (high - low).clamp_min(1e-9)
            p, q = (model(shown).softmax(1).numpy() for model in self.models)
        flat = shown.flatten(1).numpy().astype(np.float64)
        representatives = self._representatives()
        alike = [max(float(cosine_similarity([row], [one])[0, 0]) for one in representatives) for row in flat]
        first, second = p.argmax(1), q.argmax(1)
        for row, a, b in zip(flat, first, second, strict=True):
            if a != b:
                self.archive[tuple(row.tolist())] = (int(a), int(b))
        apart = np.linalg.norm(p - q, axis=1) + (first != second)
        self.evaluated += len(x)
        out["F"] = np.column_stack([-apart, alike])

    def _representatives(self) -> Array:
        """One image of each cluster of the archive and the real images; all of them where there is no cluster."""
        import umap

        known = np.array([*self.real.tolist(), *self.archive])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            places = umap.UMAP(n_components=2, n_neighbors=5, min_dist=0.1, random_state=42).fit_transform(known)
            found = HDBSCAN(min_cluster_size=3, copy=True).fit(places)
        chosen = []
        for label in sorted(set(found.labels_) - {-1}):
            members = np.flatnonzero(found.labels_ == label)
            chosen.append(members[found.probabilities_[members].argmax()])
        return known[chosen] if chosen else known


@dataclass(frozen=True)
class Found:
    """The images found (N, pixels), and how many there were after each generation, by processor seconds."""

    images: Tensor
    evaluated: int
    growth: list[tuple[float, int]]


def published_loop(
    decode: Callable[[Tensor], Tensor],
    models: tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]],
    real: Tensor,
    seconds: float,
    seed: int,
    population: int = 100,
) -> Found:
    """Run it until so much processor time is spent; the compilation that UMAP does once is not counted."""
    problem = Loop(decode, models, real[:REAL].flatten(1).numpy().astype(np.float64))
    problem._representatives()
    search = NSGA2(
        pop_size=population, crossover=SBX(prob=0.9, eta=15), mutation=PM(prob=0.1, eta=20), eliminate_duplicates=True
    )
    search.setup(problem, seed=seed, termination=("n_gen", 10**9))
    begin = time.process_time()
    growth = [(0.0, 0)]
    while growth[-1][0] < seconds:
        search.next()
        growth.append((time.process_time() - begin, len(problem.archive)))
    return Found(torch.tensor(list(problem.archive)), problem.evaluated, growth)
