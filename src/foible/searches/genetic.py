"""Genetic search in latent space, batched over origins.

After the test generator of Maryam, Biagiola, Stocco and Riccio, "Benchmarking Generative AI Models for Deep Learning
Test Input Generation" (ICST 2025), tool GIFTbench.

    paper             here
    z0                lanes.origins
    population P      population
    best left B       survivors
    d_init            initial_step(extent, space)
    step              state["step"]

1. Initial population: z0 + d_init * N(0, I).
2. Score whatever has no score yet; the `survivors` lowest survive unchanged.
3. If the best improved by no more than `tolerance` of itself, the step doubles up to `cap` * d_init; otherwise it returns
   to d_init.
4. Children: two distinct survivors, one cut through the flattened latent, then step * N(0, 1) added to
   every coordinate that differs from z0; all clamped to the measured bounds.

Differs from the original in:
- survivors keep their scores and are never rendered again (40 % of the original's work);
- crossover cuts the flattened latent, so it works for every shape (the original's is a no-op for its two GANs);
- the initial population is clamped too, so a survivor never changes;
- stagnation has a tolerance and the step a cap. `compat` sets tolerance 0 and no cap, which is the published rule;
- the step belongs to the origin, not to the script.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.searches.extent import extent_fraction, initial_step
from foible.seeding import normal, uniform
from foible.types import Feedback, Proposal, State


@dataclass(frozen=True)
class Genetic:
    """Truncation selection, one-point crossover and Gaussian mutation around each origin.

    Args:
        population: candidates alive per origin.
        survivors: how many of them live on.
        extent: "low", "high", or a fraction of the latent range.
        tolerance: relative improvement below which a round counts as stagnation.
        cap: largest step, in multiples of the initial one.
        compat: the published rule: exact stagnation and no cap.
    """

    population: int = 25
    survivors: int = 10
    extent: str | float = "high"
    tolerance: float = 0.01
    cap: float = 16.0
    compat: bool = False

    def __post_init__(self) -> None:
        if not 2 <= self.survivors < self.population:
            raise RecipeError(
                f"genetic search with population {self.population} and survivors {self.survivors} cannot breed",
                "survivors must be at least 2 and fewer than the population",
            )
        if self.tolerance < 0 or self.cap < 1:
            raise RecipeError(f"genetic search: tolerance {self.tolerance} must be >= 0 and cap {self.cap} >= 1")
        extent_fraction(self.extent)

    def begin(self, lanes: Lanes) -> State:
        """Initial populations, all without a score."""
        count, step = len(lanes), initial_step(self.extent, lanes.space)
        rounds = torch.zeros(count, dtype=torch.long)
        noise = normal(lanes.streams.each("genetic", lanes.attempts, rounds), (self.population, *lanes.space.shape))
        return {
            "latents": lanes.space.clamp(lanes.origins[:, None] + step * noise),
            "scores": torch.full((count, self.population), torch.nan),
            "step": torch.full((count,), step),
            "best": torch.full((count,), torch.inf),
            "round": rounds,
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:  # noqa: ARG002
        """Everyone without a score: the whole population at first, then the children."""
        unscored = state["scores"].isnan()
        return Proposal(state["latents"][unscored], unscored.nonzero()[:, 0])

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """Select, adapt the step, breed."""
        scores = state["scores"].masked_scatter(state["scores"].isnan(), feedback.scores[:, 0])
        order = scores.argsort(dim=1, stable=True)[:, : self.survivors]
        parents = take(state["latents"], order)
        kept = scores.gather(1, order)
        best, rounds = kept[:, 0], state["round"] + 1
        step = self._adapted(state["step"], state["best"], best, initial_step(self.extent, lanes.space))
        children = self._children(parents, step, rounds, lanes)
        unscored = torch.full(children.shape[:2], torch.nan)
        return {
            "latents": torch.cat([parents, children], 1),
            "scores": torch.cat([kept, unscored], 1),
            "step": step,
            "best": best,
            "round": rounds,
        }

    def _adapted(self, step: Tensor, previous: Tensor, best: Tensor, initial: float) -> Tensor:
        tolerance, cap = (0.0, math.inf) if self.compat else (self.tolerance, self.cap)
        stalled = previous - best <= tolerance * best.abs()
        return torch.where(stalled, (2 * step).clamp_max(cap * initial), torch.full_like(step, initial))

    def _children(self, parents: Tensor, step: Tensor, rounds: Tensor, lanes: Lanes) -> Tensor:
        """Children (lanes, population - survivors, *latent)."""
        count, shape = self.population - self.survivors, parents.shape[2:]
        streams = lanes.streams.each("genetic", lanes.attempts, rounds)
        children = offspring(parents, step, count, lanes.origins, streams)
        return lanes.space.clamp(children.unflatten(2, shape))


def offspring(parents: Tensor, step: Tensor, count: int, origins: Tensor, streams: list[torch.Generator]) -> Tensor:
    """Children (lanes, count, coordinates): a cut through two distinct parents, noise where they differ from the origin.

    Args:
        parents: (lanes, survivors, *latent).
        step: size of the noise (lanes,).
        count: how many children.
        origins: (lanes, *latent).
        streams: one per lane.
    """
    survivors, size = parents.shape[1], parents.shape[2:].numel()
    dice = uniform(streams, (3, count))
    noise = normal(streams, (count, size))
    first = (dice[:, 0] * survivors).long()
    second = (first + 1 + (dice[:, 1] * (survivors - 1)).long()) % survivors
    cut = (dice[:, 2] * size).long()[..., None]
    flat, origin = parents.flatten(2), origins.flatten(1)[:, None]
    children = torch.where(torch.arange(size) < cut, take(flat, first), take(flat, second))
    noise.mul_(step[:, None, None]).masked_fill_(children == origin, 0)
    return children.add_(noise)


def take(rows: Tensor, index: Tensor) -> Tensor:
    """Per lane, the rows at these positions: (lanes, P, ...) and (lanes, K) give (lanes, K, ...)."""
    lanes = torch.arange(len(rows))[:, None] * rows.shape[1]
    taken = rows.flatten(0, 1).index_select(0, (lanes + index).flatten())
    return taken.reshape(*index.shape, *rows.shape[2:])
