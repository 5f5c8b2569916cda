"""A transcription of the published per-seed loop, to measure against.

Written from its description: one seed at a time, the whole population rendered and scored in every generation
(survivors again), gradients never switched off, stagnation by exact equality. Only the drawing of the starting image is
foible's, so that both sides search from the same origins.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Searched:
    """What became of one seed."""

    found: bool
    iterations: int
    evaluations: int
    image: Tensor


def search_one_seed(
    decoder: nn.Module,
    classifier: nn.Module,
    origin: Tensor,
    label: int,
    bounds: tuple[float, float],
    initial_step: float,
    generations: int = 250,
    population_size: int = 25,
    best_left: int = 10,
) -> Searched:
    """Search from one latent (1, D) until the margin is negative or the generations are spent."""
    low, high = bounds
    dimensions = origin.shape[1]
    population = [origin + initial_step * torch.randn_like(origin) for _ in range(population_size)]
    step, last_best = initial_step, float("inf")
    global_best, global_image = float("inf"), origin
    for generation in range(1, generations + 1):  # noqa: B007
        images = decoder(torch.cat(population))
        scores = classifier(images)
        margins = [_margin(row, label) for row in scores]
        ranked = sorted(range(population_size), key=lambda i: margins[i])
        best = margins[ranked[0]]
        if best < global_best:
            global_best, global_image = best, images[ranked[0]]
        if best < 0:
            break
        step = 2 * step if best == last_best else initial_step
        last_best = best
        survivors = [population[i] for i in reversed(ranked[:best_left])]
        children = []
        while len(children) < population_size - best_left:
            mother, father = random.sample(survivors, 2)
            cut = random.randrange(dimensions)
            child = torch.cat([mother[:, :cut], father[:, cut:]], dim=1)
            different = (child != origin).float()
            children.append(child + step * different * torch.randn_like(child))
        population = [torch.clamp(z, low, high) for z in survivors + children]
    return Searched(global_best < 0, generation, generation * population_size, global_image.detach())


def _margin(row: Tensor, label: int) -> float:
    others = torch.cat([row[:label], row[label + 1 :]])
    margin: float = (row[label] - others.max()).item()
    return margin
