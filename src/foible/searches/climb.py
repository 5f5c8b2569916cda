"""Hill climbing to a wanted surprise, in the latent space of any generator; in pixels with the generator `pixels`.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024), Fig. 2 and the authors' code.

| symbol     | name                                                                              |
| ---------- | --------------------------------------------------------------------------------- |
| r          | state["held"]: the best candidate so far                                          |
| loss       | feedback.scores[:, 0]: distance to the wanted surprise, as a share of it          |
| T - LSA    | feedback.scores[:, 1]: what is missing, below 0 where it is too much              |
| step       | state["step"]                                                                     |

1. `batch` candidates r + step s N(0, I), s = 1/4, 1/2, 1, 2 or 4 times the space's own scale,
   every second one in a tenth of the coordinates alone; the best is the next r if its
   loss is lower. The next step is the one it was made with; if none is better, 0.7 times the last.
2. The first candidate is on the line between r and the one it took the place of (or the best that did not), where the
   wanted surprise would be if it changed evenly (the secant rule): a hill climber alone needs a round for every digit.
3. After `PATIENCE` rounds without progress the hill is left: the best of the next round's candidates, made with a
   large step, is the next r whatever its loss. The run keeps the best of all hills.
4. Done when the loss is at most `within`, or after `rounds` rounds.

`compat` is the published sweep: coordinates in the order of their index, one candidate each, r + step g e_i with g ~ N(0, 1),
taken only if its loss is lower; after a sweep the step is halved (`halve`, as published for pixels) or becomes the larger of
the mean length of an accepted move and the share of coordinates that moved (latents); three sweeps, fewer where one moved nothing.
Differs from the authors' code in: pixels stay in [0, 1]; the start is an origin of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.searches.slope import natural_scale, where, wide
from foible.seeding import normal, uniform
from foible.types import Feedback, Proposal, State

SIZES = (0.25, 0.5, 1.0, 2.0, 4.0)
FARTHEST = 4.0  # times the length of the line: how far the secant rule may go
SWEEPS = 3
PATIENCE, ENOUGH = 5, 0.9  # rounds, and what the loss must fall to of what it was, to be called progress
FEW = 0.1  # share of the coordinates that every second candidate changes
SHORTER, LEAST, MOST = (
    0.7,
    0.05,
    2.0,
)  # the step after a round without progress, and its bounds: a hill may begin anywhere


@dataclass(frozen=True)
class Climb:
    """Hill climbing to a wanted surprise, many candidates at once.

    Args:
        batch: candidates per round.
        rounds: after which a search ends.
        step: size of the first step, in units of what a coordinate varies by; with `compat` in units of the latent.
        within: share of the wanted surprise that is near enough.
        compat: the published sweep over single coordinates, one candidate a round.
        halve: with `compat`, halve the step after each sweep, as published for pixels.
    """

    batch: int = 10
    rounds: int = 100
    step: float = 0.5
    within: float = 0.01
    compat: bool = False
    halve: bool = False

    def __post_init__(self) -> None:
        if min(self.batch, self.rounds) < 1 or self.step <= 0 or self.within <= 0:
            raise RecipeError(
                f"climb: batch {self.batch} and rounds {self.rounds} must be at least 1, step {self.step} and within "
                f"{self.within} above 0"
            )

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Whatever comes nearest to the wanted surprise is kept, right or wrong."""
        kept = {"objective": "surprise", "oracle": "moved", "ends": "never", "keeps": "best", "rank": "away"}
        return {**kept, "steadiness": False, "wave": 1_000_000}

    def begin(self, lanes: Lanes) -> State:
        """At the origins, whose surprise is not known yet."""
        count = len(lanes)
        unknown = torch.full((count,), torch.inf)
        return {
            "held": lanes.origins.clone(),
            "last": lanes.origins.clone(),
            "loss": unknown,
            "lacks": unknown.clone(),
            "lacked": unknown.clone(),
            "step": torch.full((count,), self.step),
            "moved": torch.zeros(count),
            "length": torch.zeros(count),
            "stale": torch.zeros(count, dtype=torch.long),
            "round": torch.zeros(count, dtype=torch.long),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """A batch per lane; one candidate with `compat`, and at first the origin."""
        streams = lanes.streams.each("climb", lanes.attempts, state["round"])
        if self.compat:
            noise = normal(streams, (1,))[:, 0]
            single = torch.where(state["round"] == 0, 0.0, state["step"] * noise)
            candidates = state["held"].flatten(1).clone()
            rows = torch.arange(len(lanes))
            candidates[rows, (state["round"] - 1) % candidates.shape[1]] += single
            return Proposal(lanes.space.clamp(candidates.view_as(state["held"])), rows)
        noise = normal(streams, (self.batch, *lanes.space.shape)) * natural_scale(lanes.space)
        share = max(FEW, 2 / lanes.origins[0].numel())
        few = (torch.arange(self.batch) % 2 == 1).view(1, -1, *[1] * len(lanes.space.shape))
        noise = torch.where(few & (uniform(streams, noise.shape[1:]) > share), 0.0, noise)
        around = state["held"][:, None] + wide(state["step"], noise) * self._sizes(noise) * noise
        around[:, 0] = where(state["round"] == 0, lanes.origins, self._on_the_line(state, around[:, 0]))
        rows = torch.arange(len(lanes)).repeat_interleave(self.batch)
        return Proposal(lanes.space.clamp(around).flatten(0, 1), rows)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """Take the best if it is better, and adapt the step."""
        each = 1 if self.compat else self.batch
        losses, lacks = (feedback.scores[:, c].view(len(lanes), each) for c in (0, 1))
        best, place = losses.min(1)
        rows = torch.arange(len(lanes))
        candidates = proposal.latents.unflatten(0, (len(lanes), each))[rows, place]
        better, first, lack = best < state["loss"], state["round"] == 0, lacks[rows, place]
        length = (candidates - state["held"]).flatten(1).abs().sum(1)
        after = state | {
            "held": where(better, candidates, state["held"]),
            "last": where(better, state["held"], candidates),
            "loss": torch.where(better, best, state["loss"]),
            "lacked": torch.where(better & ~first, state["lacks"], torch.where(first, lacks[:, 0], lack)),
            "lacks": torch.where(better, lack, state["lacks"]),
            "moved": state["moved"] + (better & (state["round"] > 0)),
            "length": state["length"] + torch.where(better & (state["round"] > 0), length, 0.0),
            "round": state["round"] + 1,
        }
        near = after["loss"] <= self.within
        if self.compat:
            return self._swept(after, near, lanes)
        size = torch.tensor(SIZES)[place % len(SIZES)]
        made = torch.where(place == 0, state["step"], state["step"] * size)  # the first is no step but a guess
        step = torch.where(better, made, state["step"] * SHORTER).clamp(LEAST, MOST)
        stale = torch.where(best < ENOUGH * state["loss"], 0, state["stale"] + 1)
        leave = (stale >= PATIENCE) & ~near
        return after | {
            "loss": torch.where(leave, torch.inf, after["loss"]),
            "step": torch.where(leave, MOST, step),
            "stale": torch.where(leave, 0, stale),
            "done": near | (after["round"] >= self.rounds),
        }

    def _swept(self, after: State, near: Tensor, lanes: Lanes) -> State:
        """At the end of a sweep: the next step, or the end."""
        coordinates = lanes.origins[0].numel()
        over = (after["round"] > 1) & ((after["round"] - 1) % coordinates == 0)
        moved = after["moved"]
        by_moves = torch.maximum(after["length"] / moved.clamp_min(1), moved / coordinates)
        step = after["step"] / 2 if self.halve else by_moves
        last = after["round"] > SWEEPS * coordinates
        return after | {
            "step": torch.where(over, step, after["step"]),
            "moved": torch.where(over, 0.0, moved),
            "length": torch.where(over, 0.0, after["length"]),
            "done": near | (over & ((moved == 0) | last)),
        }

    def _sizes(self, noise: Tensor) -> Tensor:
        sizes = torch.tensor(SIZES)[torch.arange(self.batch) % len(SIZES)]
        return sizes.view(1, -1, *[1] * (noise.dim() - 2))

    def _on_the_line(self, state: State, otherwise: Tensor) -> Tensor:
        """Where the wanted surprise would be on the line to the last other one; `otherwise` where the two are alike."""
        gained = state["lacked"] - state["lacks"]
        usable = gained.isfinite() & (gained != 0)
        ahead = torch.where(usable, state["lacks"] / torch.where(usable, gained, 1.0), 0.0).clamp(-FARTHEST, FARTHEST)
        line = state["held"] + wide(ahead, otherwise) * (state["held"] - state["last"])
        return where(usable & (ahead != 0), line, otherwise)
