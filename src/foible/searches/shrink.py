"""Shrink: cross the border of the class somewhere, then come back to the origin as far as the border allows.

After the defect that Kang, Feldt and Yoo's search (SINVAD, TOSEM 2024) stops far from the nearest crossing: most of its
effort goes into children that are worse than their parents. Here every candidate is a crossing made smaller.

| symbol      | name                                                                             |
| ----------- | -------------------------------------------------------------------------------- |
| z0, z       | lanes.origins, state["held"]: the nearest crossing so far, by L1                 |
| s           | lanes.space.step: how much each coordinate varies by itself                      |
| f           | state["share"]: of the changed coordinates, how many are set back at a time      |

1. Hit. Black box: `batch` candidates z0 + r s N(0, I), r growing from round to round. With gradients: steps down the
   margin until it is `depth` beyond the border (`descent`'s).
2. Reset: `batch` candidates, each z with a random share f of its changed coordinates set back to z0; the nearest that
   still crosses is the next z. In every second candidate what is left is stretched, by as much as still makes it
   shorter than z: by L1, a long way along one coordinate is cheaper than a short one along many. None crosses: f is
   halved, until it is less than one coordinate. With gradients it is known
   which coordinates do least for their length: the first round sets back 1/2, 3/4, 7/8 ... of them, least useful first.
3. Bisect on the line from z0 to z, `halvings` times. Steps 2 and 3 are repeated `cycles` times.

A lane that never crosses has no result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.searches.slope import downhill, halved, natural_scale, where, wide
from foible.seeding import normal, uniform
from foible.types import Feedback, Proposal, State, Want

HIT, RESET, BISECT = 0, 1, 2
FIRST = 0.1  # of the length of a typical latent: the longest first step, short so as not to go far beyond the border
SHORTER, MOST = 0.95, 4.0  # a stretched candidate is shorter than the held one, and none is stretched more


@dataclass(frozen=True)
class Shrink:
    """The nearest class change: hit, then set coordinates back and bisect towards the origin.

    Args:
        gradients: whether to hit by following the margin's gradient.
        batch: candidates per round while hitting and resetting.
        spread: size of the first perturbations, in units of what a coordinate varies by.
        grow: factor by which they grow from round to round.
        tries: rounds, or gradient steps, after which a search that has not crossed gives up.
        depth: with gradients, logits beyond the border at which resetting begins.
        halvings: of the way back.
        cycles: of resetting and bisecting.
        keep: margin, in logits, by which a crossing must have crossed.
    """

    gradients: bool = False
    batch: int = 6
    spread: float = 1.0
    grow: float = 1.25
    tries: int = 40
    depth: float = 4.0
    halvings: int = 12
    cycles: int = 1
    keep: float = 1e-4

    def __post_init__(self) -> None:
        if min(self.batch, self.tries, self.halvings, self.cycles) < 1:
            raise RecipeError(
                f"shrink: batch {self.batch}, tries {self.tries}, halvings {self.halvings} and cycles {self.cycles} "
                "must be at least 1"
            )
        if self.spread <= 0 or self.grow < 1 or self.keep < 0 or self.depth < self.keep:
            raise RecipeError(
                f"shrink: spread {self.spread} must be above 0, grow {self.grow} at least 1, keep {self.keep} at least 0 "
                f"and depth {self.depth} at least keep"
            )

    @property
    def follows(self) -> tuple[int, ...]:
        """The margin, where gradients are wanted."""
        return (0,) if self.gradients else ()

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """The nearest crossing is kept, and the search says itself when it is done."""
        objective = {"use": "boundary", "keep": self.keep}
        return {"objective": objective, "ends": "never", "keeps": "best", "rank": "distance"}

    def begin(self, lanes: Lanes) -> State:
        """At the origins, nothing crossed."""
        count = len(lanes)
        return {
            "latents": lanes.origins.clone(),
            "held": lanes.origins.clone(),
            "slopes": torch.zeros_like(lanes.origins),
            "margin": torch.full((count,), torch.inf),
            "reach": torch.full((count,), FIRST),
            "length": torch.full((count,), torch.inf, dtype=torch.float64),
            "phase": torch.full((count,), HIT),
            "round": torch.zeros(count, dtype=torch.long),
            "step": torch.zeros(count, dtype=torch.long),
            "cycle": torch.zeros(count, dtype=torch.long),
            "share": torch.full((count,), 0.5),
            "low": torch.zeros(count),
            "high": torch.ones(count),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """A batch of candidates per lane; one where gradients are followed or the way back is halved."""
        shape, single = (self.batch, *lanes.space.shape), self._single(state)
        candidates = lanes.origins[:, None].expand(-1, *shape).clone()
        phase = state["phase"]
        if bool((phase == BISECT).any()):
            middle = (state["low"] + state["high"]) / 2
            on_line = torch.lerp(lanes.origins, state["held"], wide(middle, state["held"]))
            candidates[:, 0] = where(phase == BISECT, on_line, candidates[:, 0])
        if bool((phase == RESET).any()):
            streams = lanes.streams.each("shrink-reset", lanes.attempts, state["round"])
            back = self._set_back(state, lanes, uniform(streams, shape))
            reset = self._stretched(back, state, lanes, uniform(streams, (self.batch,)))
            candidates = where(phase == RESET, reset, candidates)
        if self.gradients:
            candidates[:, 0] = where(phase == HIT, state["latents"], candidates[:, 0])
        elif bool((phase == HIT).any()):
            streams = lanes.streams.each("shrink-hit", lanes.attempts, state["round"])
            sizes = torch.tensor([self.spread * self.grow**k for k in range(self.tries)])  # powers from a table: exact
            size = wide(sizes[state["step"].clamp_max(self.tries - 1)], candidates) * natural_scale(lanes.space)
            far = lanes.space.clamp(lanes.origins[:, None] + size * normal(streams, shape))
            candidates = where(phase == HIT, far, candidates)
        asked = self._asked(single)
        rows = asked.nonzero()[:, 0]
        downhill_rows = (phase[rows] == HIT) & self.gradients
        wants = torch.where(downhill_rows, int(Want.GRADIENTS), int(Want.SCORES))
        return Proposal(candidates[asked], rows, wants=wants)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """Hold the nearest crossing, and go on to the next phase where this one has nothing more to give."""
        phase, asked = state["phase"], self._asked(self._single(state))
        deep = torch.where((phase == HIT) & self.gradients, self.depth, self.keep)[proposal.lanes]
        crossed = feedback.failed & (feedback.scores[:, 0] <= -deep)
        moved = (proposal.latents - lanes.origins[proposal.lanes]).flatten(1).double().abs().sum(1)
        lengths = torch.full(asked.shape, torch.inf, dtype=torch.float64)
        lengths[asked] = torch.where(crossed, moved, torch.inf)
        shortest, place = lengths.min(1)
        first = torch.cat([torch.zeros(1, dtype=torch.long), asked.sum(1).cumsum(0)[:-1]])
        better, crosses = shortest < state["length"], shortest.isfinite()
        bisecting = phase == BISECT
        low, high = halved(state["low"], state["high"], bisecting, crosses)
        take_it = better & ~bisecting  # on the way back the line stays as it is: `high` remembers
        after = state | {
            "held": where(take_it, proposal.latents[first + place], state["held"]),
            "length": torch.where(take_it, shortest, state["length"]),
            "round": state["round"] + 1,
            "step": state["step"] + 1,
            "low": low,
            "high": high,
        }
        if self.gradients:
            after |= self._down(state, lanes, feedback, first, (phase == HIT) & crosses)
        return self._next_phase(phase, after, lanes, better, crosses)

    def _down(self, state: State, lanes: Lanes, feedback: Feedback, first: Tensor, turn: Tensor) -> State:
        """One step down the margin for those that have not hit; those that just have remember its slopes."""
        assert feedback.gradients is not None
        margins, slopes = feedback.scores[first, 0], feedback.gradients[first, 0]
        down = downhill(state, lanes, margins, slopes, self.depth, 0.1)
        hitting = state["phase"] == HIT
        return {
            "latents": where(hitting, down["latents"], state["latents"]),
            "margin": torch.where(hitting, margins, state["margin"]),
            "reach": torch.where(hitting, down["reach"], state["reach"]),
            "slopes": where(turn, slopes, state["slopes"]),
            "done": hitting & ~turn & down["stuck"],
        }

    def _next_phase(self, phase: Tensor, after: State, lanes: Lanes, better: Tensor, crosses: Tensor) -> State:
        changed = (after["held"] != lanes.origins).flatten(1).sum(1)
        guided = self.gradients & (phase == RESET) & (after["step"] == 1)  # by slopes: says nothing of random ones
        share = torch.where((phase == RESET) & ~better & ~guided, after["share"] / 2, after["share"])
        hit = (phase == HIT) & crosses
        reset = (phase == RESET) & (share * changed < 1)
        halted = (phase == BISECT) & (after["step"] >= self.halvings)
        end = torch.lerp(lanes.origins, after["held"], wide(after["high"], after["held"]))
        cycle = torch.where(halted, after["cycle"] + 1, after["cycle"])
        length = (end - lanes.origins).flatten(1).double().abs().sum(1)
        lost = (phase == HIT) & ~crosses & (after["step"] >= self.tries)
        turned = hit | reset | halted
        following = torch.where(hit | halted, RESET, torch.where(reset, BISECT, phase))
        return after | {
            "phase": following,
            "held": where(halted, end, after["held"]),
            "length": torch.where(halted, length, after["length"]),
            "share": torch.where(hit | halted, 0.5, share),
            "step": torch.where(turned, 0, after["step"]),
            "low": torch.where(reset, 0.0, after["low"]),
            "high": torch.where(reset, 1.0, after["high"]),
            "cycle": cycle,
            "done": after["done"] | lost | (cycle >= self.cycles),
        }

    def _set_back(self, state: State, lanes: Lanes, dice: Tensor) -> Tensor:
        """Which coordinates (L, batch, *latent) go back to the origin's."""
        by_chance = dice < wide(state["share"], dice)
        if not self.gradients:
            return by_chance
        moved = (state["held"] - lanes.origins).flatten(1)
        use = -state["slopes"].flatten(1) * moved.sign()  # how much the margin falls per unit of length
        use = use.masked_fill(moved == 0, -torch.inf)
        rank = use.argsort(dim=1, stable=True).argsort(dim=1, stable=True)
        still = (moved != 0).sum(1, keepdim=True)
        left = (still / 2.0 ** (1 + torch.arange(self.batch))).ceil()
        by_use = rank[:, None] < (moved.shape[1] - left)[..., None]
        return where(state["step"] == 0, by_use.view_as(by_chance), by_chance)

    def _stretched(self, back: Tensor, state: State, lanes: Lanes, dice: Tensor) -> Tensor:
        """Candidates (L, batch, *latent) with coordinates set back; in every second the rest goes further instead."""
        moved = torch.where(back, 0.0, (state["held"] - lanes.origins)[:, None])
        left = moved.flatten(2).double().abs().sum(2)
        room = (SHORTER * state["length"][:, None] / left.clamp_min(1e-12)).clamp(1, MOST)
        factor = 1 + (room - 1) * dice * (torch.arange(self.batch) % 2)
        factor = factor.float().view(*factor.shape, *[1] * (moved.dim() - 2))
        stretched = lanes.space.clamp(lanes.origins[:, None] + moved * factor)
        return torch.where(back, lanes.origins[:, None], stretched)

    def _single(self, state: State) -> Tensor:
        return (state["phase"] == BISECT) | ((state["phase"] == HIT) & self.gradients)

    def _asked(self, single: Tensor) -> Tensor:
        """Which of the candidates (L, batch) are asked for: the first alone, or all."""
        return ~single[:, None] | (torch.arange(self.batch) == 0)
