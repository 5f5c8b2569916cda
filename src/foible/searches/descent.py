"""Descent: follow the gradient of the margin until the classifier fails, then come back towards the origin.

Moosavi-Dezfooli, Fawzi, Frossard, "DeepFool" (CVPR 2016), carried from pixels into the latent space of a generator.

| symbol     | name                                                            |
| ---------- | --------------------------------------------------------------- |
| z0, z      | lanes.origins, state["latents"]                                 |
| m(z), g    | feedback.scores[:, 0], feedback.gradients[:, 0]                 |
| s          | lanes.space.step: how much each coordinate varies by itself     |
| r          | state["reach"]: how far one step may go, in units of s          |

1. Linearise: in coordinates measured in s the margin falls by |s g| per unit, so (m + keep) / |s g| units reach a failure.
   Go there and a bit further, but never farther than r. Where the margin rose instead of falling, r is halved.
   A steady search looks at the image alone until a failure is one step away, and through variations from there on.
2. When a candidate fails by `keep`, bisect on the straight line between z0 and it: `shrinks` halvings, each one
   evaluation, keep the nearest point that still fails by `keep`.
3. Done. The best failure is the nearest one (objective `nearest`).

Differs from the original in: steps are bounded and measured in the latent space's own units; the margin that is kept makes
a failure survive rounding; the way back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.types import Feedback, Latents, LatentSpace, Proposal, State, Want

FIRST, SHORTEST = 0.35, 0.02  # of the length of a typical latent: the longest first step, and the shortest of all


@dataclass(frozen=True)
class Descent:
    """Gradient descent on the margin, then bisection towards the origin: a failure in a few dozen evaluations.

    Args:
        steady: look for failures that harmless variations (a shift by a pixel, a slight blur) do not undo.
        variations: how many variations a steady search looks at beside the image itself.
        steps: gradient steps before it gives up.
        shrinks: halvings of the way back to the origin.
        keep: margin, in logits, by which a failure must fail.
        overshoot: how much further than the linear guess a step goes.
        within: how far from its origin a search may go, as a share of the length of a typical latent; None: anywhere.
    """

    steady: bool = True
    variations: int = 2
    steps: int = 40
    shrinks: int = 4
    keep: float = 0.75
    overshoot: float = 0.1
    within: float | None = None

    follows: ClassVar[tuple[int, ...]] = (0,)

    def __post_init__(self) -> None:
        if self.steps < 1 or self.shrinks < 0 or self.keep < 0 or self.overshoot < 0:
            raise RecipeError(
                f"descent: steps {self.steps} must be at least 1; shrinks {self.shrinks}, keep {self.keep} and overshoot "
                f"{self.overshoot} at least 0"
            )
        if self.within is not None and self.within <= 0:
            raise RecipeError(f"descent: within {self.within} must be above 0", "leave it out to go anywhere")
        if self.steady and self.variations < 1:
            raise RecipeError(f"descent: a steady search needs variations, not {self.variations}", "or steady = false")

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """The nearest failure is kept, and the search says itself when it is done."""
        objective = {"use": "nearest", "variations": self.variations if self.steady else 0, "keep": self.keep}
        return {"objective": objective, "ends": "never", "keeps": "best", "rank": "distance"}

    def begin(self, lanes: Lanes) -> State:
        """At the origins, going down."""
        count = len(lanes)
        return {
            "latents": lanes.origins.clone(),
            "end": lanes.origins.clone(),
            "margin": torch.full((count,), torch.inf),
            "reach": torch.full((count,), FIRST),
            "step": torch.zeros(count, dtype=torch.long),
            "low": torch.zeros(count),
            "high": torch.ones(count),
            "wide": torch.full((count,), not self.steady),
            "back": torch.zeros(count, dtype=torch.bool),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """One candidate per lane: with its gradient on the way down, its scores alone on the way back."""
        rows = torch.arange(len(lanes))
        down = torch.where(state["wide"], int(Want.GRADIENTS), int(Want.GUIDE))
        wants = torch.where(state["back"], int(Want.SCORES), down)
        return Proposal(state["latents"], rows, wants=wants)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """A step down, or a halving of the way back."""
        assert feedback.gradients is not None
        margins, was_back, was_wide = feedback.scores[:, 0], state["back"], state["wide"]
        fails = feedback.failed & (margins <= -self.keep) & was_wide
        down = downhill(state, lanes, margins, feedback.gradients[:, 0], self.keep, self.overshoot)
        turn = ~was_back & fails
        back = was_back | turn
        low, high = halved(state["low"], state["high"], was_back, fails)
        end = where(turn, state["latents"], state["end"])
        step = torch.where(turn, 0, state["step"] + 1)
        towards = torch.lerp(lanes.origins, end, wide((low + high) / 2, end))
        return {
            "latents": where(back, towards, self._inside(down["latents"], lanes)),
            "end": end,
            "margin": torch.where(was_wide, margins, torch.where(down["near"], torch.inf, margins)),
            "reach": torch.where(was_back, state["reach"], down["reach"]),
            "step": step,
            "low": low,
            "high": high,
            "wide": was_wide | down["near"],
            "back": back,
            "done": torch.where(back, step >= self.shrinks, (step >= self.steps) | down["stuck"]),
        }

    def _inside(self, latents: Latents, lanes: Lanes) -> Latents:
        """Latents brought back to within the distance that is allowed."""
        if self.within is None:
            return latents
        scale, farthest = natural_scale(lanes.space), self.within * natural_length(lanes.space)
        moved = (latents - lanes.origins) / scale.clamp_min(1e-12)
        share = farthest / torch.linalg.vector_norm(moved.flatten(1), dim=1).clamp_min(1e-12)
        return torch.lerp(lanes.origins, latents, wide(share.clamp_max(1), latents))


def downhill(
    state: State, lanes: Lanes, margins: Tensor, slopes: Tensor, keep: float | Tensor, overshoot: float
) -> State:
    """One bounded step towards where the margin would be -keep if it were linear.

    Args:
        state: with "latents" (L, *latent), the last "margin" (L,) and how far a step may "reach" (L,).
        lanes: the searches under way.
        margins: at these latents (L,).
        slopes: their gradients (L, *latent).
        keep: margin by which a failure must fail, one for all or (L,).
        overshoot: how much further to go.
    """
    scale, length = natural_scale(lanes.space), natural_length(lanes.space)
    slopes = slopes * scale
    steepness = torch.linalg.vector_norm(slopes.flatten(1), dim=1)
    reach = torch.where(margins > state["margin"], state["reach"] / 2, state["reach"])
    guess = (margins + keep).clamp_min(0) * (1 + overshoot) / steepness.clamp_min(1e-12)
    size = torch.minimum(guess.clamp_min(SHORTEST * length), reach * length)
    move = -wide(size / steepness.clamp_min(1e-12), slopes) * slopes * scale
    latents = lanes.space.clamp(state["latents"] + move)
    stuck = (steepness == 0) | (reach < SHORTEST / 4)
    return {"latents": latents, "reach": reach, "near": guess <= reach * length, "stuck": stuck}


def halved(low: Tensor, high: Tensor, which: Tensor, fails: Tensor) -> tuple[Tensor, Tensor]:
    """The part of the way back in which the last failure lies, after the middle was looked at."""
    middle = (low + high) / 2
    return torch.where(which & ~fails, middle, low), torch.where(which & fails, middle, high)


def natural_scale(space: LatentSpace) -> Tensor:
    """How much each coordinate varies by itself: one that never varies is left alone."""
    return space.step.expand(space.shape)


def natural_length(space: LatentSpace) -> float:
    """The length of a typical latent, counted in natural scales: the square root of the coordinates that vary."""
    return math.sqrt(int((natural_scale(space) > 0).sum()))


def wide(values: Tensor, like: Tensor) -> Tensor:
    """Values (L,) shaped so that they broadcast over the latents of a lane."""
    return values.view(-1, *[1] * (like.dim() - 1))


def where(mask: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Latents of the first where the lane's mask is true, of the second elsewhere."""
    return torch.where(wide(mask, first), first, second)
