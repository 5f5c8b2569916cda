"""NSGA-II: many origins bred against several objectives at once; what DiffGAN searches disagreements with.

Deb, Pratap, Agarwal and Meyarivan (2002); the ranking is in `pareto.py`, crossover and mutation in `variation.py`.

1. The first generation are the K origins of a lane, each with its own label.
2. Binary tournaments (lower front, then more room) choose parents; simulated binary crossover and polynomial mutation
   make as many children as there are parents, each with the origin, and so the label, of its first parent.
   Of the better half, whoever has a neighbour of the same label about which the classifiers say something else gets a child
   halfway to it instead (`across.py`): generation by generation the two close in on the boundary between them.
3. Parents and children are ranked together, and the best half lives on.

Novelty gets old: a parent was measured against what had been found by then. Where the objective notes what it has seen
(`divergence`), each generation's finds are compared with everyone: a parent, or a sibling, near a new find is as new as
their distance says. Nobody is compared with itself, although it was found. Whoever is closer than `least` to a find comes
last: a find would otherwise breed copies of itself, each of them a disagreement and none of them news. Where answers are noted,
the best of every pair of answers (A's, B's) live on in turn (`niches`).

Differs from the published settings (`compat`): origins and bounds are those of the generator's own distribution instead
of a box from -1 to 1; mutation reaches every child (once per latent on average) instead of every hundredth coordinate
of every tenth child; children halfway across boundaries; niches; novelty is kept up to date, and copies come last. In both, a
child equal to its parent is mutated instead of drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor

from foible.errors import RecipeError, did_you_mean
from foible.objectives.divergence import FARTHEST, PAIR, SEEN, distances
from foible.protocols import Lanes
from foible.searches.across import across
from foible.searches.pareto import crowding, fronts, in_turn, order, survivors, winners
from foible.searches.variation import crossed, mutated
from foible.seeding import uniform
from foible.types import Feedback, LatentSpace, Proposal, State

NOVELTY = 1  # the column of `divergence` that gets old
GOALS = ("both", "divergence", "novelty")
BOX = 1.0  # published bounds of every coordinate


@dataclass(frozen=True)
class NSGA2:
    """Breed a population of origins towards several goals: disagreement, and unlike what was found before.

    Args:
        population: origins, and members of every generation; even.
        crossover: share of pairs that exchange coordinates, each coordinate with probability 1/2.
        mutation: coordinates of a child that move, on average.
        halving: share of the members, the best first, that get a child halfway to the other side of a boundary.
        eta_crossover: the larger, the closer children stay to their parents.
        eta_mutation: the larger, the smaller mutations are.
        columns: of the objective, how many to minimise; the others are ignored.
        look: channels, height and width in which images are compared.
        least: distance to the nearest find below which a member comes last, 0 to 1.
        goals: "both" columns of `divergence`, or "divergence" or "novelty" alone.
        niches: let the best of every label pair (A's answer, B's answer) live on in turn.
        compat: the published settings: box, mutation, cosine, scores from birth.
    """

    population: int = 100
    crossover: float = 0.9
    mutation: float = 1.0
    halving: float = 0.5
    eta_crossover: float = 15.0
    eta_mutation: float = 20.0
    columns: int = 2
    look: tuple[int, int, int] = (1, 28, 28)
    least: float = 0.05
    goals: str = "both"
    niches: bool = True
    compat: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "look", tuple(self.look))
        if self.population < 4 or self.population % 2 or self.columns < 1:
            raise RecipeError(
                f"nsga2: population {self.population} must be even and at least 4, columns {self.columns} at least 1"
            )
        if self.goals not in GOALS:
            raise RecipeError(f"nsga2: goals '{self.goals}'", did_you_mean(self.goals, GOALS))
        if self.goals == GOALS[1]:
            object.__setattr__(self, "columns", 1)
        if not 0 <= self.least < 1 or not 0 <= self.halving <= 1:
            raise RecipeError(
                f"nsga2: least {self.least} must be at least 0 and below 1, halving {self.halving} lie in [0, 1]"
            )
        if not 0 <= self.crossover <= 1 or self.mutation < 0 or min(self.eta_crossover, self.eta_mutation) < 0:
            raise RecipeError(
                f"nsga2: crossover {self.crossover} must lie in [0, 1]; mutation {self.mutation}, eta_crossover "
                f"{self.eta_crossover} and eta_mutation {self.eta_mutation} be at least 0"
            )

    @property
    def starts(self) -> int:
        """Origins per search."""
        return self.population

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Every disagreement of a search that goes on until its budget is spent."""
        objective = {"use": "divergence", "look": list(self.look), "metric": self._metric}
        if self.compat:
            objective |= {"boundary": False, "enough": FARTHEST}
        if self.goals == GOALS[2]:  # with nothing else to rank by, farther is better
            objective |= {"enough": FARTHEST}
        return {
            "objective": objective,
            "oracle": "disagree",
            "ends": "never",
            "keeps": "every",
            "steadiness": False,
        }

    def begin(self, lanes: Lanes) -> State:
        """The first generation, all without a score."""
        count, size = len(lanes), self.population
        low, high = self._bounds(lanes.space)
        children = torch.clamp(lanes.starts.latents, low, high)
        rounds = torch.zeros(count, dtype=torch.long)
        if self.compat:
            dice = uniform(lanes.streams.each("nsga2 box", lanes.attempts, rounds), (size, *lanes.space.shape))
            children = BOX * (2 * dice - 1)
        which = torch.arange(size).repeat(count, 1)
        return {
            "latents": torch.zeros_like(children),
            "origins": which.clone(),
            "scores": torch.full((count, size, self.columns), torch.nan),
            "seen": torch.zeros(count, size, prod(self.look), dtype=torch.uint8),
            "pairs": torch.full((count, size), -1),
            "found": torch.zeros(count, size, dtype=torch.bool),
            "children": children,
            "children.origins": which,
            "round": rounds,
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """The children of every lane."""
        rows = torch.arange(len(lanes)).repeat_interleave(self.population)
        return Proposal(state["children"].flatten(0, 1), rows, state["children.origins"].flatten())

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """Rank parents and children together, and breed the better half."""
        shape = (len(lanes), self.population)
        born = feedback.scores[:, : self.columns].unflatten(0, shape)
        if born.shape[2] < self.columns:  # an objective with fewer columns
            born = torch.nn.functional.pad(born, (0, self.columns - born.shape[2]))
        if self.goals == GOALS[2]:
            born = born.clone()
            born[..., 0] = 0
        seen = feedback.notes[SEEN].unflatten(0, shape) if SEEN in feedback.notes else state["seen"]
        pairs = feedback.notes[PAIR].view(shape) if PAIR in feedback.notes else state["pairs"]
        everyone = {
            "latents": torch.cat([state["latents"], state["children"]], 1),
            "origins": torch.cat([state["origins"], state["children.origins"]], 1),
            "scores": torch.cat([state["scores"], born], 1),
            "seen": torch.cat([state["seen"], seen], 1),
            "pairs": torch.cat([state["pairs"], pairs], 1),
            "found": torch.cat([state["found"], feedback.failed.view(shape)], 1),
        }
        if SEEN in feedback.notes and not self.compat and self.columns > NOVELTY:
            everyone["scores"] = self._up_to_date(everyone, feedback.failed.view(shape))
        best = self._best(self._ranked(everyone["scores"], feedback), everyone["pairs"])
        kept = {name: _take(values, best) for name, values in everyone.items()}
        rounds = state["round"] + 1
        children, origins = self._children(kept, lanes, rounds)
        return kept | {"children": children, "children.origins": origins, "round": rounds}

    def _best(self, ranked: Tensor, pairs: Tensor) -> Tensor:
        """Positions (L, population) of those that live on."""
        if self.compat or not self.niches:
            return survivors(ranked, self.population)
        front = fronts(ranked)
        worst = ~ranked.isfinite().all(2)
        return in_turn(order(front, crowding(ranked, front)), pairs, worst)[:, : self.population]

    @property
    def _metric(self) -> Any:
        return "cosine" if self.compat else "euclidean"

    def _bounds(self, space: LatentSpace) -> tuple[Tensor, Tensor]:
        if self.compat:
            return torch.tensor(-BOX), torch.tensor(BOX)
        return space.low, space.high

    def _up_to_date(self, everyone: State, failed: Tensor) -> Tensor:
        """Scores with novelty against what the children have just found; a find is not near itself."""
        scores = everyone["scores"].clone()
        for lane in failed.any(1).nonzero()[:, 0].tolist():
            finds = failed[lane].nonzero()[:, 0] + self.population
            own = torch.full((2 * self.population,), -1)
            own[finds] = torch.arange(len(finds))
            rows = everyone["seen"][lane]
            near = distances(rows, rows[finds], self._metric, own)
            scores[lane, :, NOVELTY] = torch.maximum(scores[lane, :, NOVELTY], -near)
        return scores

    def _ranked(self, scores: Tensor, feedback: Feedback) -> Tensor:
        """Scores by which members live on: those too close to a find are worse than everybody."""
        if SEEN not in feedback.notes or self.compat or self.columns <= NOVELTY:
            return scores
        return scores.masked_fill((scores[..., NOVELTY] > -self.least)[..., None], torch.inf)

    def _children(self, kept: State, lanes: Lanes, rounds: Tensor) -> tuple[Tensor, Tensor]:
        """As many as there are parents, (L, population, *latent), and whose origin each has."""
        half, flat = self.population // 2, kept["latents"].flatten(2)
        size = flat.shape[2]
        low, high = (b.expand(lanes.space.shape).flatten() for b in self._bounds(lanes.space))
        streams = lanes.streams.each("nsga2", lanes.attempts, rounds)
        mother, father = self._parents(kept["scores"], uniform(streams, (3, self.population))).split(half, 1)
        pairs = uniform(streams, (1, half))[:, 0, :, None] < self.crossover
        dice = uniform(streams, (3, half, size))
        one, two = crossed(
            _take(flat, mother),
            _take(flat, father),
            low,
            high,
            cross=pairs & (dice[:, 0] < 0.5),
            swap=dice[:, 2] < 0.5,
            spread=dice[:, 1],
            eta=self.eta_crossover,
        )
        parents = torch.cat([mother, father], 1)
        children = self._moved(torch.cat([one, two], 1), _take(flat, parents), low, high, streams)
        if not self.compat:
            labels = lanes.starts.labels.gather(1, kept["origins"])
            partner = across(flat, labels, kept["pairs"], kept["found"])
            place = torch.arange(self.population)
            halves = (partner >= 0) & (place < self.halving * self.population)
            middle = torch.lerp(flat, _take(flat, partner.clamp_min(0)), 0.5)
            children, parents = torch.where(halves[..., None], middle, children), torch.where(halves, place, parents)
        return children.unflatten(2, lanes.space.shape), kept["origins"].gather(1, parents)

    def _parents(self, scores: Tensor, dice: Tensor) -> Tensor:
        """Positions (L, population) of those that win a tournament of two, each with somebody else."""
        count = self.population
        first = (dice[:, 0] * count).long()
        second = (first + 1 + (dice[:, 1] * (count - 1)).long()) % count
        front = fronts(scores)
        return winners(front, crowding(scores, front), torch.stack([first, second], 2), dice[:, 2] < 0.5)

    def _moved(
        self, children: Tensor, parents: Tensor, low: Tensor, high: Tensor, streams: list[torch.Generator]
    ) -> Tensor:
        size = children.shape[2]
        chosen, shift = uniform(streams, (2, self.population, size)).unbind(1)
        whom = uniform(streams, (1, self.population))[:, 0, :, None]
        some = (whom < 0.1) & (chosen < 1 / size) if self.compat else chosen < self.mutation / size
        again = (children == parents).all(2, keepdim=True) & ~some.any(2, keepdim=True)
        return mutated(children, low, high, mutate=some | again, shift=shift, eta=self.eta_mutation)


def _take(rows: Tensor, index: Tensor) -> Tensor:
    """Per lane, the rows at these positions."""
    return rows[torch.arange(len(rows))[:, None], index]
