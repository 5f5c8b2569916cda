"""Frontier: go down to the boundary of the tested classifier, find where the rival's differs from it, and walk on along it.

For nearly identical classifiers (a model and its int8 version) disagreements lie in a thin sheet at the boundary, which
random images almost never hit. With s the mean of both classifiers' margins (objective `between`) and g the gradient of
the tested one's:

1. DOWN: step along g, at most `reach` far, to where s would be zero if it were linear, until s changes its sign: the sheet
   lies between here and the last point on the other side.
2. CROSS: look between the two, where a straight line through both values of s would be zero, every third time halfway.
   Where s is zero and the classifiers differ at all, they disagree. `looks` such looks.
3. WALK: from where a disagreement was found (or looking for one was given up) take a random step of length `stride` along the
   boundary, across g, that keeps the latent as long as latents are; come back to the boundary along the g that is known,
   without asking for another; go on with 2. Where `blind` steps do not come back to it, g is asked for again. `hops` times.

A gradient costs two evaluations more than an answer. The way down needs several; what is found on the walk needs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.searches.slope import natural_length, natural_scale, where, wide
from foible.seeding import normal
from foible.types import Feedback, Proposal, State, Want

EDGE = 0.05  # how close to one of its two ends a look between them may be
BENT = 4.0  # how much steeper or flatter than its gradient says the way may turn out to be


@dataclass(frozen=True)
class Frontier:
    """Follow the tested classifier's gradient to its boundary, find where the rival's differs from it, walk along it.

    Args:
        steps: gradient steps to come to the boundary before it gives up.
        looks: looks across the boundary before it hops.
        hops: how often it goes on elsewhere along the boundary.
        stride: length of a hop, in standard deviations of every coordinate, below 1.
        reach: the longest step towards the boundary, as a share of the length of a typical latent.
        blind: steps back to the boundary after a hop before a gradient is asked for.
    """

    steps: int = 40
    looks: int = 12
    hops: int = 8
    stride: float = 0.3
    reach: float = 0.1
    blind: int = 3

    follows: ClassVar[tuple[int, ...]] = (0,)

    def __post_init__(self) -> None:
        if self.steps < 1 or self.looks < 1 or min(self.hops, self.blind) < 0:
            raise RecipeError(
                f"frontier: steps {self.steps} and looks {self.looks} must be at least 1; hops {self.hops} and blind "
                f"{self.blind} at least 0"
            )
        if not 0 < self.stride < 1 or self.reach <= 0:
            raise RecipeError(f"frontier: stride {self.stride} must lie between 0 and 1, reach {self.reach} above 0")

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Every disagreement of the walk; at a boundary none is steady, so that this is not measured."""
        return {"objective": "between", "oracle": "disagree", "ends": "never", "keeps": "every", "steadiness": False}

    def begin(self, lanes: Lanes) -> State:
        """At the origins, going down."""
        count = len(lanes)
        whole = torch.zeros(count, dtype=torch.long)
        return {
            "latents": lanes.origins.clone(),
            "inside": lanes.origins.clone(),
            "outside": lanes.origins.clone(),
            "slopes": torch.zeros_like(lanes.origins),
            "inner": torch.full((count,), torch.inf),
            "outer": torch.full((count,), -torch.inf),
            "last": torch.full((count,), torch.nan),
            "covered": torch.ones(count),
            "reach": torch.full((count,), self.reach),
            "step": whole.clone(),
            "hop": whole,
            "crossing": torch.zeros(count, dtype=torch.bool),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """One candidate per lane: with its gradient where the way to the boundary is not known."""
        knows = state["crossing"] | ((state["hop"] > 0) & (state["step"] < self.blind))
        wants = torch.where(knows, int(Want.SCORES), int(Want.GRADIENTS))
        return Proposal(state["latents"], torch.arange(len(lanes)), wants=wants)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """A step to the boundary, a look across it, or a hop along it."""
        assert feedback.gradients is not None
        middle, crossing = feedback.scores[:, -1], state["crossing"]
        fresh = proposal.wants == Want.GRADIENTS
        slopes = self._slopes(state, middle, fresh, feedback.gradients[:, 0])
        beyond = middle <= 0
        inside = where(beyond, state["inside"], state["latents"])
        outside = where(beyond, state["latents"], state["outside"])
        inner = torch.where(beyond, state["inner"], middle)
        outer = torch.where(beyond, middle, state["outer"])
        away = ~crossing & (middle.abs() > state["last"].abs())
        reach = torch.where(away, state["reach"] / 2, state["reach"])
        turn = ~crossing & inner.isfinite() & outer.isfinite()
        step = torch.where(turn, 0, state["step"] + 1)
        flat = slopes.flatten(1).abs().amax(1) == 0
        lost = ~crossing & ~turn & ((step >= self.steps) | flat | (reach < self.reach / 16))
        over = feedback.failed | (crossing & (step >= self.looks)) | lost
        hop = state["hop"] + over
        crosses = (crossing | turn) & ~over
        between = torch.lerp(inside, outside, wide(_share(inner, outer, step), inside))
        nearer, covered = self._nearer(state["latents"], middle, slopes, reach, lanes)
        latents = where(crosses, between, nearer)
        if bool(over.any()):
            kept = (1 - self.stride**2) ** 0.5 * state["latents"]  # as long as latents of the space are, on average
            hopped = lanes.space.clamp(kept + self.stride * self._along(slopes, hop, lanes))
            latents = where(over, hopped, latents)
        return {
            "latents": latents,
            "inside": inside,
            "outside": outside,
            "slopes": slopes,
            "inner": torch.where(over, torch.inf, inner),
            "outer": torch.where(over, -torch.inf, outer),
            "last": torch.where(over | crosses, torch.nan, middle),
            "covered": covered,
            "reach": torch.where(over, self.reach, reach),
            "step": torch.where(over, 0, step),
            "hop": hop,
            "crossing": crosses,
            "done": (over & (hop > self.hops)) | (lost & (state["hop"] == 0)),
        }

    def _slopes(self, state: State, middle: Tensor, fresh: Tensor, gradients: Tensor) -> Tensor:
        """The gradient: the one just asked for, or the one that is known, as steep as the last step has shown it to be."""
        fallen = (1 - middle / state["last"]) / state["covered"]  # 1 where the way is as steep as was thought
        steeper = fallen.nan_to_num(nan=1.0).clamp(1 / BENT, BENT)
        return where(fresh, gradients, state["slopes"] * wide(steeper, gradients))

    def _nearer(
        self, latents: Tensor, middle: Tensor, slopes: Tensor, reach: Tensor, lanes: Lanes
    ) -> tuple[Tensor, Tensor]:
        """To where the mean margin would be zero if it were linear, but not farther than `reach`; and the share of the way."""
        scale = natural_scale(lanes.space)
        uphill = slopes * scale
        steepness = torch.linalg.vector_norm(uphill.flatten(1), dim=1).clamp_min(1e-12)
        whole = middle.abs() / steepness
        size = torch.minimum(whole, reach * natural_length(lanes.space))
        move = wide(middle.sign() * size / steepness, uphill) * uphill * scale
        return lanes.space.clamp(latents - move), (size / whole.clamp_min(1e-12)).clamp(1e-3, 1)

    def _along(self, slopes: Tensor, hop: Tensor, lanes: Lanes) -> Tensor:
        """A random direction along the boundary, one natural scale long in every coordinate."""
        scale = natural_scale(lanes.space)
        uphill = torch.nn.functional.normalize((slopes * scale).flatten(1), dim=1)
        streams = lanes.streams.each("frontier", lanes.attempts, hop)
        noise = normal(streams, lanes.space.shape).flatten(1)
        along = noise - (noise * uphill).sum(1, keepdim=True) * uphill
        return along.view_as(slopes) * scale


def _share(inner: Tensor, outer: Tensor, step: Tensor) -> Tensor:
    """Which share of the way from inside to outside to look at (L,): where a line would be zero, or half of it."""
    line = (inner / (inner - outer)).nan_to_num(nan=0.5).clamp(EDGE, 1 - EDGE)
    return torch.where(step % 3 == 2, 0.5, line)
