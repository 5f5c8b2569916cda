"""Descent: follow the gradient of the margin until the classifier fails, then come back towards the origin.

Moosavi-Dezfooli, Fawzi, Frossard, "DeepFool" (CVPR 2016), carried from pixels into the latent space of a generator, with the
momentum of Dong et al., "Boosting Adversarial Attacks with Momentum" (CVPR 2018).

| symbol     | name                                                            |
| ---------- | --------------------------------------------------------------- |
| z0, z      | lanes.origins, state["latents"]                                 |
| m(z), g    | feedback.scores[:, 0], feedback.gradients[:, 0]                 |
| s          | lanes.space.step: how much each coordinate varies by itself     |
| r          | state["reach"]: how far one step may go, in units of s          |
| h          | state["heading"]: the way it went last, in units of s           |

1. GUIDE, DOWN. Linearise: in coordinates measured in s the margin falls by |s g| per unit, so (m + keep) / |s g| units reach
   a failure. Go there and a bit further, but never farther than r. The first steps are short, since the slope at the origin
   rarely points to the nearest failure; where the margin falls, r grows, and where it rose instead, r is halved. Half of h is
   kept in each step: straight down a narrow valley leads from wall to wall.
   A steady search looks at the image alone until a failure is half a reach away (GUIDE), and through variations from there on.
2. BACK. When a candidate fails by `keep`, bisect on the straight line between z0 and it: `shrinks` cuts, each one look, keep
   the nearest point that still fails by `keep`. The failure is rarely far beyond its border, so a cut is not the middle: it is
   drawn towards the place where the margin would be -keep if it were linear between the two ends (`slope.cut`). Where the
   validators' word is in the score (`steers`), a failure that they refuse is a failure too far away.
3. Done. The best failure is the nearest one (objective `nearest`). Where several wrong classes are wanted, or the
   validators have refused all that was found, begin again from z0 and aim at the next of the classes that were likeliest
   there; each class's nearest failure is then presented (SHOW).

Differs from the original in: steps are bounded and measured in the latent space's own units; the margin that is kept makes
a failure survive rounding; the way back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.objectives.nearest import LIKELIEST
from foible.objectives.surrogates import as_surrogates
from foible.protocols import Lanes
from foible.searches.slope import LONGEST, cut, downhill, where, wide
from foible.types import Feedback, Proposal, State, Want

GUIDE, DOWN, BACK, SHOW = range(4)
ASKED = torch.tensor([int(w) for w in (Want.GUIDE, Want.GRADIENTS, Want.SCORES, Want.SCORES)])
SPARE = 2  # further classes to aim at where the validators refuse what was found


@dataclass(frozen=True)
class Descent:
    """Gradient descent on the margin, then bisection towards the origin: a failure in a few dozen evaluations.

    Args:
        steady: look for failures that harmless variations (a shift by a pixel, a slight blur) do not undo.
        variations: how many variations a steady search looks at beside the image itself.
        steps: gradient steps before it gives up.
        shrinks: cuts of the way back to the origin.
        keep: margin, in logits, by which a failure must fail.
        overshoot: how much further than the linear guess a step goes.
        reach: the longest first step, as a share of the length of a typical latent; where the margin falls, steps get longer.
            Short ones lead to nearer failures and cost a little more.
        alone: share of other classifiers' slope that is taken away, so that they go on seeing the class and the tested one fails
            alone; docs/searches.md says where more failures keep their label by it. Up to three others of the domain, or the recipe's
            own surrogates; 0 asks none.
        keeps: "every": go on to other wrong classes and present the nearest failure of each; the recipe's word by default.
        classes: how many different wrong classes to go for then.
    """

    steady: bool = True
    variations: int = 2
    steps: int = 40
    shrinks: int = 4
    keep: float = 0.5
    overshoot: float = 0.1
    reach: float = 0.12
    alone: float = 0.0
    keeps: str = "best"
    classes: int = 3

    follows: ClassVar[tuple[int, ...]] = (0,)

    def __post_init__(self) -> None:
        if self.steps < 1 or self.shrinks < 0 or self.keep < 0 or self.overshoot < 0:
            raise RecipeError(
                f"descent: steps {self.steps} must be at least 1; shrinks {self.shrinks}, keep {self.keep} and overshoot "
                f"{self.overshoot} at least 0"
            )
        if self.reach <= 0:
            raise RecipeError(f"descent: reach {self.reach} must be above 0")
        if not 1 <= self.classes <= LIKELIEST:
            raise RecipeError(f"descent: classes {self.classes} must be 1 to {LIKELIEST}")
        if not 0 <= self.alone <= 1:
            raise RecipeError(f"descent: alone {self.alone} must be 0 to 1")
        if self.steady and self.variations < 1:
            raise RecipeError(f"descent: a steady search needs variations, not {self.variations}", "or steady = false")

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:
        """The nearest failure is kept, or that of every class; the search says itself when it is done."""
        objective = {"use": "nearest", "variations": self.variations if self.steady else 0, "keep": self.keep}
        rest = {"ends": "never", "keeps": self.keeps, "rank": "distance"}
        if not self.alone:
            return {"objective": objective, **rest}
        return {"objective": objective | {"alone": self.alone}, **rest, **as_surrogates(others)}

    @property
    def wanted(self) -> int:
        """How many wrong classes are enough."""
        return self.classes if self.keeps == "every" else 1

    def begin(self, lanes: Lanes) -> State:
        """At the origins, going down, aiming at no class but wherever the recipe does."""
        count = len(lanes)
        return self._from_the_origin(lanes) | {
            "aim": lanes.targets.clone(),
            "likeliest": torch.full((count, LIKELIEST), -1),
            "found": torch.zeros(count, dtype=torch.long),
            "turns": torch.zeros(count, dtype=torch.long),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def _from_the_origin(self, lanes: Lanes) -> State:
        count = len(lanes)
        return {
            "latents": lanes.origins.clone(),
            "end": lanes.origins.clone(),
            "margin": torch.full((count,), torch.inf),
            "reach": torch.full((count,), self.reach),
            "heading": torch.zeros_like(lanes.origins),
            "step": torch.zeros(count, dtype=torch.long),
            "low": torch.zeros(count),
            "high": torch.ones(count),
            "place": torch.ones(count),  # between 0, the origin, and 1, the end of the way down
            "above": torch.full((count,), torch.inf),  # margins at low and high
            "below": torch.full((count,), -torch.inf),
            "good": torch.full((count,), torch.inf),  # the nearest place on the way back where a failure counts
            "phase": torch.full((count,), GUIDE if self.steady else DOWN),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """One candidate per lane: with its gradient on the way down, its scores alone on the way back."""
        rows, phase = torch.arange(len(lanes)), state["phase"]
        shown = None if self.wanted == 1 else phase == SHOW
        return Proposal(state["latents"], rows, wants=ASKED[phase], targets=state["aim"], shown=shown)

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """A step down, a cut of the way back, or on to the next class."""
        assert feedback.gradients is not None
        margins, phase = feedback.scores[:, 0], state["phase"]
        enough = (margins <= -self.keep) & (phase != GUIDE)
        fails, counts = (feedback.failed | feedback.refused) & enough, feedback.failed & enough
        down = downhill(
            state, lanes, margins, feedback.gradients[:, 0], self.keep, self.overshoot, max(self.reach, LONGEST)
        )
        turn, was_back = (phase == DOWN) & fails, phase == BACK
        back = was_back | turn
        place, too_near = state["place"], was_back & ~fails
        low = torch.where(too_near, place, state["low"])
        high = torch.where(was_back & fails, place, state["high"])
        at_origin = (phase <= DOWN) & (state["step"] == 0)
        above = torch.where(at_origin | too_near, margins, state["above"])
        below = torch.where(back & fails, margins, state["below"])
        look = torch.where(back, cut(low, high, above, below, self.keep), 1.0)
        end = where(turn, state["latents"], state["end"])
        step = torch.where(turn, 0, state["step"] + 1)
        near = (phase == GUIDE) & down["near"]
        after = state | {
            "latents": where(back, torch.lerp(lanes.origins, end, wide(look, end)), down["latents"]),
            "end": end,
            "margin": torch.where(near, torch.inf, margins),
            "reach": torch.where(was_back, state["reach"], down["reach"]),
            "heading": down["heading"],
            "step": step,
            "low": low,
            "high": high,
            "place": look,
            "above": above,
            "below": below,
            "good": torch.where(back & counts, place, state["good"]),
            "phase": torch.where(back, BACK, torch.where(near, DOWN, phase)),
            "likeliest": _remembered(state, feedback, fails),
        }
        over = torch.where(back, step >= self.shrinks, (step >= self.steps) | down["stuck"]) | (phase == SHOW)
        return self._next(after, lanes, over, phase == SHOW)

    def _next(self, state: State, lanes: Lanes, over: Tensor, shown: Tensor) -> State:
        """Show what was found on a way back where that is wanted; then aim at another class, or be done."""
        good = state["good"].isfinite()
        if self.wanted > 1 and bool((showing := over & ~shown & good).any()):
            there = torch.lerp(lanes.origins, state["end"], wide(state["good"].nan_to_num(posinf=1.0), state["end"]))
            state = state | {
                "latents": where(showing, there, state["latents"]),
                "phase": torch.where(showing, SHOW, state["phase"]),
            }
            over = over & ~showing
        reached = good | (state["phase"] == BACK) | (state["aim"] != lanes.targets)
        found, turns = state["found"] + (over & good), state["turns"] + over
        aim, likeliest = _next_aim(state["likeliest"])
        wanted = (found < self.wanted) & (turns < self.wanted + SPARE) & reached & (lanes.targets < 0) & (aim >= 0)
        again = over & wanted
        state = state | {"found": found, "turns": turns, "done": over & ~again}
        if not bool(again.any()):
            return state
        fresh = self._from_the_origin(lanes) | {"aim": aim, "likeliest": likeliest}
        return state | {name: where(again, value, state[name]) for name, value in fresh.items()}


def _remembered(state: State, feedback: Feedback, fails: Tensor) -> Tensor:
    """The wrong classes that were likeliest at the origin (L, LIKELIEST), without those that a failure went to; -1: none."""
    if "likeliest" not in feedback.notes:
        return state["likeliest"]
    now = feedback.notes["likeliest"]
    first = (state["turns"] == 0) & (state["step"] == 0) & (state["phase"] <= DOWN)
    known = torch.where(first[:, None], now, state["likeliest"])
    return torch.where(fails[:, None] & (known == now[:, :1]), -1, known)


def _next_aim(likeliest: Tensor) -> tuple[Tensor, Tensor]:
    """The next class to aim at (L,), -1 where none is left, and the others."""
    place = (likeliest >= 0).float().argmax(1, keepdim=True)
    return likeliest.gather(1, place)[:, 0], likeliest.scatter(1, place, -1)
