"""A queue of images that are mutated in turn: DRFuzz, which looks for what a new version of a model has unlearnt.

You, Wang, Chen, Liu, Li, "Regression fuzzing for deep learning systems" (ICSE 2023); as adapted for the comparison with DiffGAN.

| paper            | here                                                                        |
| ---------------- | --------------------------------------------------------------------------- |
| seed, corpus     | the K origins of a lane, and mutants that joined them: state["queue"]       |
| mutation rules   | `mutations.py`, fifteen                                                     |
| M1, M2           | tested classifier (old), rival (new)                                        |
| fidelity         | the discriminator of `gate` finds a mutant as real as the origin it comes from |

1. Draw an entry of the queue by its weight, exp(-ln 20 / 20 (depth + chosen / 2)); 0 once it was chosen more than ten times, and for
   origins that have led to nine kinds of failure.
2. Draw a mutation by Metropolis: with mutations ranked by score, rewards x faithful / chosen^2, and k1 the rank of the last, a
   random rank k2 is accepted with probability (1 - 1/15)^(k2 - k1).
3. Make ten mutants. Both models are asked about those that pass the gate and differ from their parent.
4. The mutation is rewarded when a mutant lost confidence in the expected class, by two thirds against its parent and by one third
   against the tested classifier. A mutant that both still get right joins the queue when for some class k the rival's
   probability minus the tested one's is larger than for any mutant of its origin before.

With `compat` as adapted: an entry counts as chosen only where a regression came of it (so that barren ones are never demoted),
mutants that both get wrong earn rewards too, and an image may be reported twice. Without it, an image that was asked about
once is not asked about again, to the last of its 8 bits.

Every mutant that does not pass is proposed without being asked about, which costs nothing. When nothing has passed for
`patience` rounds the search ends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.objectives.regression import CATEGORIES
from foible.protocols import Lanes
from foible.searches.mutations import MUTATIONS, Rng
from foible.types import RIVAL, TESTED, Feedback, LatentSpace, Proposal, State, Want
from foible.zoo.resolve import resolve

AGEING = math.log(20) / 20
OFTEN, KINDS = 10, 9  # times chosen, and kinds of failure, after which an entry rests
PERMIL = 1_000_000  # probabilities are noted in millionths
SLOTS = 32  # classes that are told apart; of more, some share a place


@dataclass(frozen=True)
class MutationQueue:
    """Mutate images of a queue, the mutations that paid more often; for images as latents (`pixels`).

    Args:
        seeds: origins of a search.
        room: places of the queue for mutants; beyond that the oldest leave.
        mutants: made of one entry in one round.
        gate: a GAN whose discriminator must find a mutant as real as its origin; empty: none.
        patience: rounds in which nothing passes before the search ends.
        compat: the adapter's rules, which never demote barren entries, reward images both get wrong and repeat images.
    """

    seeds: int = 20
    room: int = 100
    mutants: int = 10
    gate: str = ""
    patience: int = 200
    compat: bool = False

    def __post_init__(self) -> None:
        if min(self.seeds, self.room, self.mutants, self.patience) < 1:
            raise RecipeError(
                f"mutation_queue: seeds {self.seeds}, room {self.room}, mutants {self.mutants} and patience "
                f"{self.patience} must be at least 1"
            )

    @property
    def starts(self) -> int:
        """Origins per search."""
        return self.seeds

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Every disagreement of a search that goes on until its budget is spent, from real images."""
        return {
            "objective": "regression",
            "oracle": "disagree",
            "ends": "never",
            "keeps": "every",
            "steadiness": False,
        }

    def begin(self, lanes: Lanes) -> State:
        """The origins are the queue; nothing is known of the mutations."""
        count, total, ops = len(lanes), self.seeds + self.room, len(MUTATIONS)
        queue = torch.zeros(count, total, *lanes.space.shape)
        queue[:, : self.seeds] = lanes.space.clamp(lanes.starts.latents)
        source = torch.full((count, total), -1)
        source[:, : self.seeds] = torch.arange(self.seeds)
        whole = torch.zeros(count, dtype=torch.long)
        return {
            "queue": queue,
            "source": source,
            "depth": torch.zeros(count, total),
            "chosen": torch.zeros(count, total),
            "sure": torch.ones(count, total),
            "joined": whole.clone(),
            "ahead": torch.zeros(count, self.seeds, SLOTS),
            "kinds": torch.zeros(count, self.seeds, SLOTS**2, dtype=torch.bool),
            "tried": torch.zeros(count, ops),
            "faithful": torch.zeros(count, ops),
            "rewards": torch.zeros(count, ops),
            "last": torch.zeros(count, dtype=torch.long),
            "asked": torch.zeros(count, self.room * self.mutants, dtype=torch.long),
            "idle": whole.clone(),
            "round": whole,
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """Mutants of one entry per lane; only those that pass are asked about."""
        latents, wants, origins = [], [], []
        for lane in range(len(lanes)):
            rng = lanes.streams.at("mutation_queue", int(lanes.attempts[lane]), int(state["round"][lane]))
            entry, mutation = self._drawn(state, lane, rng)
            parent, source = state["queue"][lane, entry], int(state["source"][lane, entry])
            made = torch.stack([self._mutant(parent, mutation, lanes.space, rng) for _ in range(self.mutants)])
            passes = (made != parent).flatten(1).any(1) & self._real(made, lanes, lane, source)
            if not self.compat:
                passes &= _fresh(_prints(made), state["asked"][lane])
            latents.append(made)
            wants.append(torch.where(passes, int(Want.SCORES), int(Want.GUIDE)))
            origins.append(torch.full((self.mutants,), source))
        rows = torch.arange(len(lanes)).repeat_interleave(self.mutants)
        return Proposal(torch.cat(latents), rows, torch.cat(origins), torch.cat(wants))

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """Books of entries and mutations, and who joins the queue."""
        state = {name: value.clone() for name, value in state.items()}
        for lane in range(len(lanes)):
            rng = lanes.streams.at("mutation_queue", int(lanes.attempts[lane]), int(state["round"][lane]))
            entry, mutation = self._drawn(state, lane, rng)
            rows = ((proposal.lanes == lane) & (proposal.wants == Want.SCORES)).nonzero()[:, 0]
            self._learn(state, lanes, lane, entry, mutation, proposal, feedback, rows)
        state["round"] += 1
        state["done"] = state["idle"] >= self.patience
        return state

    def _learn(
        self,
        state: State,
        lanes: Lanes,
        lane: int,
        entry: int,
        mutation: int,
        proposal: Proposal,
        feedback: Feedback,
        rows: Tensor,
    ) -> None:
        """What one lane learns from its mutants."""
        state["tried"][lane, mutation] += 1
        state["last"][lane] = mutation
        state["idle"][lane] = 0 if len(rows) else state["idle"][lane] + 1
        if not self.compat:
            state["chosen"][lane, entry] += 1
        if not len(rows) or RIVAL not in feedback.notes:
            return
        state["faithful"][lane, mutation] += 1
        source = int(state["source"][lane, entry])
        label = int(lanes.starts.labels[lane, source])
        p, q = (feedback.notes[role][rows].float() / PERMIL for role in (TESTED, RIVAL))
        kinds = feedback.scores[rows, 1].long()
        earns = kinds != CATEGORIES.index("both wrong") if not self.compat else torch.ones_like(kinds, dtype=torch.bool)
        drop = 2 / 3 * (state["sure"][lane, entry] - q[:, label]) + 1 / 3 * (p[:, label] - q[:, label])
        state["rewards"][lane, mutation] += float(bool(((drop > 0) & earns).any()))
        hits = (p.argmax(1) != q.argmax(1)).nonzero()[:, 0]
        state["kinds"][lane, source, p[hits].argmax(1) % SLOTS * SLOTS + q[hits].argmax(1) % SLOTS] = True
        if self.compat:
            state["chosen"][lane, entry] += float(bool((kinds == CATEGORIES.index("regression")).any()))
        else:
            self._remember(state, lane, _prints(proposal.latents[rows]))
        ahead = _by_slot(q - p)
        for row in ((p.argmax(1) == label) & (q.argmax(1) == label)).nonzero()[:, 0].tolist():
            if bool((ahead[row] > state["ahead"][lane, source]).any()):
                state["ahead"][lane, source] = torch.maximum(state["ahead"][lane, source], ahead[row])
                self._join(state, lane, entry, source, proposal.latents[rows[row]], float(q[row, label]))

    def _join(self, state: State, lane: int, parent: int, source: int, latent: Tensor, sure: float) -> None:
        place = self.seeds + int(state["joined"][lane]) % self.room
        state["queue"][lane, place] = latent
        state["source"][lane, place] = source
        state["depth"][lane, place] = state["depth"][lane, parent] + 1
        state["chosen"][lane, place] = 0
        state["sure"][lane, place] = sure
        state["joined"][lane] += 1

    def _remember(self, state: State, lane: int, prints: Tensor) -> None:
        """The last images asked about; a ring, so that memory does not grow."""
        state["asked"][lane] = torch.cat([prints, state["asked"][lane]])[: state["asked"].shape[1]]

    def _drawn(self, state: State, lane: int, rng: Rng) -> tuple[int, int]:
        """An entry of the queue and a mutation."""
        source = state["source"][lane]
        weight = (-AGEING * (state["depth"][lane] + state["chosen"][lane] / 2)).exp()
        rests = (state["chosen"][lane] > OFTEN) | (state["kinds"][lane].sum(1)[source.clamp_min(0)] >= KINDS)
        weight = weight.masked_fill(source < 0, 0)
        weight = weight.masked_fill(rests, 0) if bool((weight.masked_fill(rests, 0) > 0).any()) else weight
        point = torch.rand((), generator=rng) * weight.double().sum()
        entry = min(int((weight.double().cumsum(0) <= point).sum()), int(weight.nonzero()[-1, 0]))
        return entry, _metropolis(state, lane, rng)

    def _mutant(self, parent: Tensor, mutation: int, space: LatentSpace, rng: Rng) -> Tensor:
        """A mutant of a latent, which is looked at as an image between the bounds of its space."""
        low, high = space.low.expand(space.shape), space.high.expand(space.shape)
        image = ((parent - low) / (high - low)).reshape(_as_image(space.shape))
        changed = MUTATIONS[mutation](image, rng).clamp(0, 1).reshape(space.shape)
        return space.clamp(low + changed * (high - low))

    def _real(self, made: Tensor, lanes: Lanes, lane: int, source: int) -> Tensor:
        """Whether mutants look as real as the origin they come from (mutants,)."""
        if not self.gate:
            return torch.ones(len(made), dtype=torch.bool)
        label = lanes.starts.labels[lane, source].expand(len(made) + 1)
        with torch.inference_mode():
            images = torch.cat([lanes.starts.latents[lane, source][None], made])
            scores: Tensor = _gate(self.gate).realness(images, label)
            passes = scores[1:] >= scores[0]
        return passes.clone()


def _metropolis(state: State, lane: int, rng: Rng) -> int:
    """The next mutation, from the rank of the last."""
    tried = state["tried"][lane].clamp_min(1)
    score = state["rewards"][lane] * state["faithful"][lane] / tried**2
    shuffled = torch.randperm(len(score), generator=rng)  # equals are in random order
    ranked = shuffled[score[shuffled].argsort(descending=True, stable=True)]
    last = int((ranked == state["last"][lane]).nonzero()[0, 0])
    while True:
        rank = int(torch.randint(len(score), (), generator=rng))
        if float(torch.rand((), generator=rng)) < (1 - 1 / len(score)) ** (rank - last):
            return int(ranked[rank])


def _fresh(prints: Tensor, asked: Tensor) -> Tensor:
    """Which of some images (N,) were not asked about, and are the first of their kind among them."""
    repeated = (prints[:, None] == prints[None]).tril(-1).any(1)
    return ~torch.isin(prints, asked) & ~repeated


def _by_slot(values: Tensor) -> Tensor:
    """Values per class (N, classes) as (N, SLOTS), the largest where classes share a place."""
    places = (torch.arange(values.shape[1]) % SLOTS).expand_as(values)
    return torch.zeros(len(values), SLOTS).scatter_reduce(1, places, values, "amax")


def _prints(images: Tensor) -> Tensor:
    """A number (N,) by which an image is known, from its 8-bit pixels."""
    pixels = images.flatten(1).mul(255).round().long()
    keys = torch.arange(1, pixels.shape[1] + 1)
    mixed = (pixels + 1) * (keys * 2654435761 % 1_000_003)
    return (mixed * (mixed % 8191 + 1)).sum(1) + 1


def _as_image(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Channels, height and width as which a latent of any shape is mutated."""
    height, width = (1, 1, *shape)[-2:]
    return math.prod(shape) // (height * width), height, width


@cache
def _gate(name: str) -> Any:
    """The GAN by name."""
    model = resolve("generators", name, {}).model
    if not hasattr(model, "realness"):
        raise RecipeError(f"mutation_queue: gate '{name}' has no discriminator", "name a GAN")
    return model
