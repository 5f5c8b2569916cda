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
2. When a candidate fails by `keep`, bisect on the straight line between z0 and it: `shrinks` halvings, each one
   evaluation, keep the nearest point that still fails by `keep`.
3. Done. The best failure is the nearest one (objective `nearest`).

Differs from the original in: steps are bounded and measured in the latent space's own units; the margin that is kept makes
a failure survive rounding; the way back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.types import Feedback, LatentSpace, Proposal, State, Want

FIRST, SHORTEST = 0.35, 0.02  # of the length of a typical latent: the longest first step, and the shortest of all


@dataclass(frozen=True)
class Descent:
    """Gradient descent on the margin, then bisection towards the origin: a failure in a few dozen evaluations.

    Args:
        steady: look for failures that harmless variations (a shift by a pixel, a slight blur) do not undo.
        variations: how many variations a steady search looks through at every step.
        steps: gradient steps before it gives up.
        shrinks: halvings of the way back to the origin.
        keep: margin, in logits, by which a failure must fail.
        overshoot: how much further than the linear guess a step goes.
    """

    steady: bool = True
    variations: int = 4
    steps: int = 40
    shrinks: int = 4
    keep: float = 0.2
    overshoot: float = 0.1

    follows: ClassVar[tuple[int, ...]] = (0,)

    def __post_init__(self) -> None:
        if self.steps < 1 or self.shrinks < 0 or self.keep < 0 or self.overshoot < 0:
            raise RecipeError(
                f"descent: steps {self.steps} must be at least 1; shrinks {self.shrinks}, keep {self.keep} and overshoot "
                f"{self.overshoot} at least 0"
            )
        if self.steady and self.variations < 1:
            raise RecipeError(f"descent: a steady search needs variations, not {self.variations}", "or steady = false")

    def suggests(self) -> Mapping[str, Any]:
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
            "back": torch.zeros(count, dtype=torch.bool),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """One candidate per lane: with its gradient on the way down, its scores alone on the way back."""
        rows = torch.arange(len(lanes))
        wants = torch.where(state["back"], int(Want.SCORES), int(Want.GRADIENTS))
        return Proposal(state["latents"], rows, wants=wants)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """A step down, or a halving of the way back."""
        margins, fails = feedback.scores[:, 0], feedback.failed & (feedback.scores[:, 0] <= -self.keep)
        down = self._down(state, lanes, margins, feedback)
        turn = ~state["back"] & fails
        back = state["back"] | turn
        middle = (state["low"] + state["high"]) / 2
        low = torch.where(state["back"] & ~fails, middle, state["low"])
        high = torch.where(state["back"] & fails, middle, state["high"])
        end = _where(turn, state["latents"], state["end"])
        halves = torch.where(state["back"], state["step"] + 1, state["step"])
        step = torch.where(turn, 0, torch.where(state["back"], halves, state["step"] + 1))
        towards = torch.lerp(lanes.origins, end, _wide((low + high) / 2, end))
        done = torch.where(back, step >= self.shrinks, (step >= self.steps) | down["stuck"])
        return {
            "latents": _where(back, towards, down["latents"]),
            "end": end,
            "margin": margins,
            "reach": down["reach"],
            "step": step,
            "low": low,
            "high": high,
            "back": back,
            "done": done,
        }

    def _down(self, state: State, lanes: Lanes, margins: Tensor, feedback: Feedback) -> State:
        assert feedback.gradients is not None
        scale = natural_scale(lanes.space)
        slope = feedback.gradients[:, 0] * scale
        steepness = torch.linalg.vector_norm(slope.flatten(1), dim=1)
        reach = torch.where(margins > state["margin"], state["reach"] / 2, state["reach"])
        length = natural_length(lanes.space)
        guess = (margins.clamp_min(0) + self.keep) * (1 + self.overshoot) / steepness.clamp_min(1e-12)
        size = torch.minimum(guess.clamp_min(SHORTEST * length), reach * length)
        move = -_wide(size / steepness.clamp_min(1e-12), slope) * slope * scale
        latents = lanes.space.clamp(state["latents"] + move)
        return {"latents": latents, "reach": reach, "stuck": (steepness == 0) | (reach < SHORTEST / 4)}


def natural_scale(space: LatentSpace) -> Tensor:
    """How much each coordinate varies by itself: one that never varies is left alone."""
    return space.step.expand(space.shape)


def natural_length(space: LatentSpace) -> float:
    """The length of a typical latent, counted in natural scales: the square root of the coordinates that vary."""
    return math.sqrt(int((natural_scale(space) > 0).sum()))


def _wide(values: Tensor, like: Tensor) -> Tensor:
    return values.view(-1, *[1] * (like.dim() - 1))


def _where(mask: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return torch.where(_wide(mask, first), first, second)
