"""Go down two columns at once inside a ball around the origin: what DeepXplore, DLFuzz and PGD have in common.

    symbol        here
    g1, g2        gradients of the objective's first and second column
    lambda2       `weight` of the second

1. Each gradient is normalised by itself, d = -(g1 / |g1| + lambda2 g2 / |g2|): otherwise lambda2 would mean something else
   for every objective, and nothing else for two of them would be comparable. `normalise = "sum"` is the published way, g1 + lambda2 g2:
   one gradient, and one backward pass to pay for.
2. A constraint (light, a patch) takes its part of d.
3. A step of `step` radii along d, then back into the ball and into the bounds: so every candidate is one that could be kept.

With `weight = 0` only the first gradient is asked for and paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from foible.errors import RecipeError, did_you_mean
from foible.protocols import Lanes
from foible.searches.ball import Norm, along, projected, radius_of, refuse_unfit, scattered, unit
from foible.searches.constraints import CONSTRAINTS, Constraint, allowed, refuse_flat
from foible.seeding import uniform
from foible.types import Feedback, Latents, Proposal, State, Want


@dataclass(frozen=True)
class Joint:
    """Gradient steps on two columns inside a norm ball.

    Args:
        steps: gradient steps.
        step: length of one, in radii.
        weight: of the second column's gradient against the first's; 0: it is not asked for.
        norm: of the ball: "l2" or "linf".
        radius: how far from the origin, in the latent's own units; left out: a quarter of a typical latent's length.
        constraint: what may change: "none", "light", "occlusion", "blackout".
        normalise: gradients "each" by itself, or their "sum", as published.
        scatter: begin at a random point of the ball instead of the origin.
    """

    steps: int = 20
    step: float = 0.1
    weight: float = 0.1
    norm: Norm = "l2"
    radius: float | None = None
    constraint: Constraint = "none"
    normalise: Literal["each", "sum"] = "each"
    scatter: bool = False

    def __post_init__(self) -> None:
        name = type(self).__name__.lower()
        refuse_unfit(name, self.norm, self.radius, self.step, self.steps)
        if self.weight < 0 or self.normalise not in ("each", "sum"):
            raise RecipeError(f"{name}: weight {self.weight} must be at least 0, normalise each or sum")
        if self.constraint not in CONSTRAINTS:
            raise RecipeError(f"{name}: constraint '{self.constraint}'", did_you_mean(self.constraint, CONSTRAINTS))

    @property
    def follows(self) -> tuple[int, ...]:
        """The first column, and the second where it has weight."""
        return (0, 1) if self.weight else (0,)

    @property
    def mixes(self) -> tuple[float, ...]:
        """As published, one gradient of the weighted sum."""
        return (1.0, self.weight) if self.weight and self.normalise == "sum" else ()

    def begin(self, lanes: Lanes) -> State:
        """At the origin, or somewhere near it."""
        refuse_flat(self.constraint, lanes.space.shape)
        zero = torch.zeros(len(lanes), dtype=torch.long)
        latents = lanes.space.clamp(lanes.origins)
        if self.scatter and len(lanes):
            dice = uniform(lanes.streams.each("scatter", lanes.attempts, zero), lanes.space.shape) * 2 - 1
            latents = scattered(lanes.origins, dice, lanes.space, self.norm, self._radius(lanes))
        return {"latents": latents, "step": zero, "done": zero.bool()}

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """Where each search is, and which way is down; after the last step only whether it fails."""
        rows = torch.arange(len(lanes))
        wants = torch.where(state["step"] < self.steps, int(Want.GRADIENTS), int(Want.SCORES))
        return Proposal(state["latents"], rows, wants=wants)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """A step down, inside the ball."""
        moved = self.stepped(state["latents"], lanes, feedback, state["step"])
        step = state["step"] + 1
        return {"latents": moved, "step": step, "done": step > self.steps}

    def stepped(self, latents: Latents, lanes: Lanes, feedback: Feedback, turn: Tensor) -> Latents:
        """Latents (L, *latent) after one step."""
        assert feedback.gradients is not None
        radius = self._radius(lanes)
        down = allowed(self._direction(feedback.gradients), self.constraint, lanes, turn)
        moved = latents + self.step * radius * along(down, self.norm)
        return projected(moved, lanes.origins, lanes.space, self.norm, radius)

    def _direction(self, gradients: Tensor) -> Tensor:
        """Down both columns (L, *latent)."""
        first = gradients[:, 0]
        if not self.weight:
            return -unit(first)
        if self.normalise == "sum":
            return -unit(first)  # that of the weighted sum
        return -(unit(first) + self.weight * unit(gradients[:, 1]))

    def _radius(self, lanes: Lanes) -> float:
        return radius_of(lanes.space, self.norm, self.radius)


@dataclass(frozen=True)
class PGD(Joint):
    """Projected gradient descent on the margin: the plain attack that every guided one is to be compared with.

    Madry, Makelov, Schmidt, Tsipras and Vladu, ICLR 2018, on the margin instead of the cross-entropy.

    Args:
        weight: of the objective's second column, if it has one.
        scatter: begin at a random point of the ball, as published, instead of the origin.
    """

    weight: float = 0.0
    scatter: bool = True
