"""Frontier: go down to the boundary of the tested classifier, and look for the rival's on either side of it.

For nearly identical classifiers (a model and its int8 version) disagreements lie in a thin sheet at the boundary, which
random images almost never hit. With m the tested classifier's margin and s the mean of both (objective `boundary`):

1. DOWN: follow the gradient of m (as `descent` does) until s changes its sign: the sheet lies between here and the last
   point where it was positive.
2. CROSS: look between the two, where a straight line through both values of s would be zero, and halfway, in turn. Where
   s is zero and the classifiers differ at all, they disagree. `looks` such looks.
3. HOP: no disagreement (the two boundaries meet here, or rounding skips the sheet): take a random step of length `stride`
   from there and go on with 1, `hops` times.

Where a disagreement is found and the recipe goes on (`ends = "never"`), it hops too, and so walks along the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.searches.descent import FIRST, downhill, natural_scale, where, wide
from foible.seeding import normal
from foible.types import Feedback, Proposal, State, Want

EDGE = 0.05  # how close to one of its two ends a look between them may be


@dataclass(frozen=True)
class Frontier:
    """Follow the tested classifier's gradient to its boundary and find where the rival's differs from it.

    Args:
        steps: gradient steps to come to the boundary before it gives up.
        looks: looks across the boundary before it hops.
        hops: how often it goes on elsewhere along the boundary.
        stride: length of a hop, in standard deviations of every coordinate.
        overshoot: how much further than the linear guess a step goes.
    """

    steps: int = 40
    looks: int = 8
    hops: int = 8
    stride: float = 0.1
    overshoot: float = 0.1

    follows: ClassVar[tuple[int, ...]] = (0,)

    def __post_init__(self) -> None:
        if self.steps < 1 or self.looks < 1 or self.hops < 0 or self.stride <= 0 or self.overshoot < 0:
            raise RecipeError(
                f"frontier: steps {self.steps} and looks {self.looks} must be at least 1, stride {self.stride} above 0; "
                f"hops {self.hops} and overshoot {self.overshoot} at least 0"
            )

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """One disagreement for each origin; at a boundary none is steady, so that this is not measured."""
        return {"objective": "between", "oracle": "disagree", "steadiness": False}

    def begin(self, lanes: Lanes) -> State:
        """At the origins, going down."""
        count = len(lanes)
        whole = torch.zeros(count, dtype=torch.long)
        return {
            "latents": lanes.origins.clone(),
            "inside": lanes.origins.clone(),
            "outside": lanes.origins.clone(),
            "inner": torch.full((count,), torch.inf),
            "outer": torch.full((count,), -torch.inf),
            "margin": torch.full((count,), torch.inf),
            "reach": torch.full((count,), FIRST),
            "step": whole.clone(),
            "hop": whole,
            "crossing": torch.zeros(count, dtype=torch.bool),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """One candidate per lane: with its gradient on the way down, its scores alone across the boundary."""
        wants = torch.where(state["crossing"], int(Want.SCORES), int(Want.GRADIENTS))
        return Proposal(state["latents"], torch.arange(len(lanes)), wants=wants)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """A step down, a look across, or a hop."""
        assert feedback.gradients is not None
        margins, middle = feedback.scores[:, 0], feedback.scores[:, -1]
        crossing, beyond = state["crossing"], middle <= 0
        down = downhill(state, lanes, margins, feedback.gradients[:, 0], 0.0, self.overshoot)
        inside = where(beyond, state["inside"], state["latents"])
        inner = torch.where(beyond, state["inner"], middle)
        outside = where(beyond, state["latents"], state["outside"])
        outer = torch.where(beyond, middle, state["outer"])
        turn = ~crossing & beyond
        step = torch.where(turn, 0, state["step"] + 1)
        over = (crossing & (step >= self.looks)) | ((crossing | turn) & feedback.failed) | (turn & inner.isinf())
        lost = ~crossing & ~turn & ((step >= self.steps) | down["stuck"])
        hop = state["hop"] + over
        crosses = (crossing | turn) & ~over
        between = torch.lerp(inside, outside, wide(_share(inner, outer, step), inside))
        latents = where(crosses, between, down["latents"])
        if bool(over.any()):
            latents = where(over, self._hopped(outside, hop, lanes), latents)
        return {
            "latents": latents,
            "inside": inside,
            "outside": outside,
            "inner": inner,
            "outer": outer,
            "margin": torch.where(over, torch.inf, margins),
            "reach": torch.where(over, FIRST, torch.where(crossing, state["reach"], down["reach"])),
            "step": torch.where(over, 0, step),
            "hop": hop,
            "crossing": crosses,
            "done": lost | (over & (hop > self.hops)),
        }

    def _hopped(self, latents: Tensor, hop: Tensor, lanes: Lanes) -> Tensor:
        """A random step from where the boundary was."""
        noise = normal(lanes.streams.each("frontier", lanes.attempts, hop), lanes.space.shape)
        return lanes.space.clamp(latents + self.stride * natural_scale(lanes.space) * noise)


def _share(inner: Tensor, outer: Tensor, step: Tensor) -> Tensor:
    """Which share of the way from inside to outside to look at (L,): where a line would be zero, or half of it."""
    line = (inner / (inner - outer)).nan_to_num(nan=0.5).clamp(EDGE, 1 - EDGE)
    return torch.where(step % 2 == 0, line, 0.5)
