"""The published search for boundary images: a genetic one that keeps the class changed and comes closer to the origin.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024), Eq. 1 and Fig. 3, with the constants of its code; towards a class, Eq. 4.

| paper or code    | name                                                          |
| ---------------- | ------------------------------------------------------------- |
| z0               | lanes.origins                                                 |
| fitness          | L1(z - z0) where the class has changed, else infinite         |
| 0.7 (Eq. 4: 1.0) | spread: of the initial population                             |
| step             | state["step"]: 0.1 after an improvement, else times 0.7       |

1. Initial population: z0 + spread * N(0, I).
2. The `survivors` nearest that have crossed live on. No improvement at all: the step shrinks; otherwise it is 0.1 again.
3. Children: two distinct survivors, one cut; step * N(0, 1) on the coordinates that differ from z0; then each
   coordinate is set back to z0 with probability one half.
4. The end: `generations`, or a step below 0.001: 13 generations without improvement.

`compat` is that. Differs from the published code in: the step belongs to the origin (there it leaks from one to the next,
and a search after a finished one may stop at once); survivors keep their scores and are not paid for again; latents stay inside the measured bounds; a search
without a crossing has no result. Without `compat`, those that have not crossed are ordered by their margin instead of not
at all, and as long as nobody has crossed the step grows by 1.2 instead of shrinking: the rule that the published code
has and never reaches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.objectives.nearest import FAR
from foible.protocols import Lanes
from foible.searches.genetic import offspring, take
from foible.seeding import normal, uniform
from foible.types import Feedback, Proposal, State

STEP, SHRINK, GROW, LEAST = 0.1, 0.7, 1.2, 1e-3


@dataclass(frozen=True)
class BoundaryGenetic:
    """The published genetic search for the nearest class change; `shrink` does it with far fewer evaluations.

    Args:
        population: candidates alive per origin.
        survivors: how many of them live on.
        spread: standard deviation of the initial population, in latent units: 0.7 published, 1.0 towards a class.
        generations: when to give up coming closer.
        compat: the published rule, for comparison.
    """

    population: int = 50
    survivors: int = 20
    spread: float = 0.7
    generations: int = 500
    compat: bool = True

    def __post_init__(self) -> None:
        if not 2 <= self.survivors < self.population:
            raise RecipeError(
                f"boundary-genetic with population {self.population} and survivors {self.survivors} cannot breed",
                "survivors must be at least 2 and fewer than the population",
            )
        if self.spread <= 0 or self.generations < 1:
            raise RecipeError(
                f"boundary-genetic: spread {self.spread} must be above 0 and generations {self.generations} at least 1"
            )

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """The nearest crossing is kept, and the budget is that of all generations."""
        most = self.population + (self.generations - 1) * (self.population - self.survivors) + 1
        return {
            "objective": "boundary",
            "ends": "never",
            "keeps": "best",
            "rank": "distance",
            "budget": {"evaluations": most},
        }

    def begin(self, lanes: Lanes) -> State:
        """Initial populations, all without a score."""
        count, rounds = len(lanes), torch.zeros(len(lanes), dtype=torch.long)
        streams = lanes.streams.each("boundary-genetic", lanes.attempts, rounds)
        noise = normal(streams, (self.population, *lanes.space.shape))
        return {
            "latents": lanes.space.clamp(lanes.origins[:, None] + self.spread * noise),
            "scores": torch.full((count, self.population), torch.nan),
            "step": torch.full((count,), STEP),
            "best": torch.full((count,), torch.inf),
            "round": rounds,
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:  # noqa: ARG002
        """Everyone without a score: the whole population at first, then the children."""
        unscored = state["scores"].isnan()
        return Proposal(state["latents"][unscored], unscored.nonzero()[:, 0])

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """Select, adapt the step, breed."""
        moved = (proposal.latents - lanes.origins[proposal.lanes]).flatten(1).double().abs().sum(1)
        outside = torch.full_like(moved, FAR) if self.compat else FAR + feedback.scores[:, 0].double()
        fresh = torch.where(feedback.failed, moved, outside).float()
        scores = state["scores"].masked_scatter(state["scores"].isnan(), fresh)
        order = scores.argsort(dim=1, stable=True)[:, : self.survivors]
        parents, kept = take(state["latents"], order), scores.gather(1, order)
        best, rounds = kept[:, 0], state["round"] + 1
        step = self._adapted(state, best)
        children = self._children(parents, step, rounds, lanes)
        return {
            "latents": torch.cat([parents, children], 1),
            "scores": torch.cat([kept, torch.full(children.shape[:2], torch.nan)], 1),
            "step": step,
            "best": best,
            "round": rounds,
            "done": (step < LEAST) | (rounds >= self.generations),
        }

    def _adapted(self, state: State, best: Tensor) -> Tensor:
        stalled = best == state["best"]
        step = torch.where(stalled, state["step"] * SHRINK, torch.full_like(best, STEP))
        if self.compat:
            return step
        return torch.where(best >= FAR / 2, state["step"] * GROW, step)

    def _children(self, parents: Tensor, step: Tensor, rounds: Tensor, lanes: Lanes) -> Tensor:
        """Children (lanes, population - survivors, *latent), about half of whose changes are taken back."""
        count, shape = self.population - self.survivors, parents.shape[2:]
        streams = lanes.streams.each("boundary-genetic", lanes.attempts, rounds)
        children = offspring(parents, step, count, lanes.origins, streams).unflatten(2, shape)
        back = uniform(streams, (count, *shape)) < 0.5
        return lanes.space.clamp(torch.where(back, lanes.origins[:, None], children))
