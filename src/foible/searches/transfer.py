"""Transfer: descent for a black box, along the gradients of surrogates.

The surrogates are other classifiers of the same classes that run here. Asking them is free; only the tested classifier's own
answers are counted. Each search is in one of four phases:

1. GUIDE: go down the mean margin of the surrogates, until they fail by `depth`.
2. CHECK: ask the tested classifier. Does it fail too? If not, go twice as deep with the surrogates, all of them towards the class
   that it found likeliest after its own: each by itself, they may pull apart. After half of the `checks`, begin again at the
   origin.
3. BACK: bisect between the origin and the failure, each look one query.
4. BREED: where the surrogates lead nowhere (`checks` queries in vain, or no slope left), the genetic search takes over.

Papernot, McDaniel, Goodfellow, "Transferability in Machine Learning" (2016), in latent space and with a way back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.objectives.surrogates import as_surrogates
from foible.protocols import Lanes
from foible.searches.genetic import Genetic
from foible.searches.slope import LONGEST, downhill, halved, where, wide
from foible.types import Feedback, Proposal, State, Want

GUIDE, CHECK, BACK, BREED = range(4)
SHALLOW = 0.1  # logits: the least by which surrogates must fail
STRIDE = 4  # steps on the surrogates before the tested classifier is asked anyway
BRED = "breed."  # what the genetic search remembers, in a transfer's state


@dataclass(frozen=True)
class Transfer:
    """Descent along the gradients of surrogates, for classifiers that lend none: a failure for a dozen queries.

    Args:
        steady: look for failures that harmless variations (a shift by a pixel, a slight blur) do not undo.
        variations: how many variations a steady search looks through.
        checks: queries in vain after which the genetic search takes over; after half of them it begins again at the origin.
        shrinks: halvings of the way back to the origin.
        keep: margin, in logits, by which a failure must fail.
        overshoot: how much further than the linear guess a step goes.
        extent: step of the genetic search: "low", "high", or a fraction of the latent range.
    """

    steady: bool = True
    variations: int = 2
    checks: int = 16
    shrinks: int = 4
    keep: float = 0.5
    overshoot: float = 0.1
    extent: str | float = "high"

    follows: ClassVar[tuple[int, ...]] = (2,)
    genetic: Genetic = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.checks < 1 or self.shrinks < 0 or self.keep < 0 or self.overshoot < 0:
            raise RecipeError(
                f"transfer: checks {self.checks} must be at least 1; shrinks {self.shrinks}, keep {self.keep} and "
                f"overshoot {self.overshoot} at least 0"
            )
        if self.steady and self.variations < 1:
            raise RecipeError(f"transfer: a steady search needs variations, not {self.variations}", "or steady = false")
        object.__setattr__(self, "genetic", Genetic(extent=self.extent))

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:
        """Up to three other classifiers of the domain as surrogates; the nearest failure is kept."""
        objective = {"use": "stand_in", "variations": self.variations if self.steady else 0, "keep": self.keep}
        return {"objective": objective, "ends": "never", "keeps": "best", "rank": "distance", **as_surrogates(others)}

    @property
    def shallow(self) -> float:
        """How deep the surrogates go before the first check: something that can be doubled."""
        return max(self.keep, SHALLOW)

    def begin(self, lanes: Lanes) -> State:
        """At the origins, asking the surrogates."""
        count = len(lanes)
        whole = torch.zeros(count, dtype=torch.long)
        empty = self.genetic.begin(Lanes(lanes.starts.rows(torch.arange(0)), lanes.space, lanes.streams))
        bred = {BRED + k: torch.zeros(count, *v.shape[1:], dtype=v.dtype) for k, v in empty.items()}
        return bred | {
            "latents": lanes.origins.clone(),
            "end": lanes.origins.clone(),
            "margin": torch.full((count,), torch.inf),
            "reach": torch.full((count,), LONGEST),
            "heading": torch.zeros_like(lanes.origins),
            "depth": torch.full((count,), self.shallow),
            "aim": lanes.targets.clone(),
            "phase": whole.clone(),
            "step": whole.clone(),
            "checks": whole.clone(),
            "low": torch.zeros(count),
            "high": torch.ones(count),
            "done": torch.zeros(count, dtype=torch.bool),
        }

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """One candidate per lane, or a whole brood where the genetic search is at work."""
        single = (state["phase"] != BREED).nonzero()[:, 0]
        wants = torch.where(state["phase"][single] == GUIDE, int(Want.GUIDE), int(Want.SCORES))
        aims = torch.where(wants == int(Want.GUIDE), state["aim"][single], lanes.targets[single])
        one = Proposal(state["latents"][single], single, wants=wants, targets=aims)
        rows = (state["phase"] == BREED).nonzero()[:, 0]
        if len(rows) == 0:
            return one
        brood = self.genetic.ask(_bred(state, rows), _some(lanes, rows))
        return Proposal(
            torch.cat([one.latents, brood.latents]),
            torch.cat([one.lanes, rows[brood.lanes]]),
            wants=torch.cat([one.wants, brood.wants]),
            targets=torch.cat([aims, lanes.targets[rows[brood.lanes]]]),
        )

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """On to the next phase, where one has come to its end."""
        breeding = (state["phase"] == BREED).nonzero()[:, 0]
        single = torch.arange(len(proposal.lanes)) < len(lanes) - len(breeding)
        after = self._told(state, lanes, proposal, feedback, single)
        if len(breeding):
            brood = (~single).nonzero()[:, 0]
            local = torch.searchsorted(breeding, proposal.lanes[brood])
            scores, refused = feedback.scores[brood], feedback.refused[brood]
            scores = torch.where(
                refused[:, None], scores.abs() + 1, scores
            )  # it follows no slope, so it must turn back
            told = Feedback(scores, feedback.failed[brood], feedback.cost[brood])
            some = _some(lanes, breeding)
            bred = self.genetic.tell(_bred(state, breeding), some, Proposal(proposal.latents[brood], local), told)
            good = told.failed & (told.scores[:, 0] <= -self.keep)
            after["done"] = after["done"].index_fill(0, breeding[local[good]], True)
            after |= {BRED + k: after[BRED + k].index_copy(0, breeding, v) for k, v in bred.items()}
        return self._beginning_to_breed(state, after, lanes)

    def _told(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback, single: Tensor) -> State:
        """What becomes of the lanes that asked for one candidate."""
        assert feedback.gradients is not None
        rows, count = proposal.lanes[single], len(lanes)
        scores = torch.full((count, feedback.scores.shape[1]), torch.nan).index_copy(0, rows, feedback.scores[single])
        wrong = feedback.failed | feedback.refused  # what the validators refuse is a failure too far away
        failed = torch.zeros(count, dtype=torch.bool).index_copy(0, rows, wrong[single])
        slopes = torch.zeros_like(state["latents"]).index_copy(0, rows, feedback.gradients[single, 2])
        rival = torch.full((count,), -1)  # the wrong class that whoever was asked finds likeliest
        if "likeliest" in feedback.notes:
            rival = rival.index_copy(0, rows, feedback.notes["likeliest"][single, 0])
        phase, guide = state["phase"], scores[:, 2].nan_to_num(nan=torch.inf)
        fails = failed & (scores[:, 0] <= -self.keep)
        guiding, checking, back = phase == GUIDE, phase == CHECK, phase == BACK
        deep = guiding & ((guide <= -state["depth"]) | (state["step"] >= STRIDE))
        down = downhill(state, lanes, guide, slopes, state["depth"], self.overshoot, longest=LONGEST)
        moving = guiding & ~deep
        lost = moving & down["stuck"]
        turn, vain = checking & fails, checking & ~fails
        low, high = halved(state["low"], state["high"], back, fails)
        end = where(turn, state["latents"], state["end"])
        towards = torch.lerp(lanes.origins, end, wide((low + high) / 2, end))
        checks = state["checks"] + vain
        step = torch.where(moving | back, state["step"] + 1, torch.where(turn | vain, 0, state["step"]))
        following = torch.where(deep, CHECK, torch.where(turn, BACK, torch.where(vain, GUIDE, phase)))
        following = torch.where(lost | (vain & (checks >= self.checks)), BREED, following)
        latents = where(moving & ~lost, down["latents"], state["latents"])
        aiming = vain & (lanes.targets < 0) & (rival >= 0)
        again = vain & (checks == self.checks // 2)
        return state | {
            "aim": torch.where(aiming, rival, state["aim"]),
            "latents": where(turn | back, towards, where(again, lanes.origins, latents)),
            "end": end,
            "margin": torch.where(vain, torch.inf, torch.where(guiding, guide, state["margin"])),
            "reach": torch.where(moving, down["reach"], torch.where(vain, LONGEST, state["reach"])),
            "heading": where(again, torch.zeros_like(latents), where(moving, down["heading"], state["heading"])),
            "depth": torch.where(again, self.shallow, torch.where(vain, state["depth"] * 2, state["depth"])),
            "phase": following,
            "step": step,
            "checks": checks,
            "low": low,
            "high": high,
            "done": state["done"] | ((turn | back) & (step >= self.shrinks)),
        }

    def _beginning_to_breed(self, before: State, after: State, lanes: Lanes) -> State:
        """Lanes that have just been given up by the surrogates get an initial population."""
        rows = ((before["phase"] != BREED) & (after["phase"] == BREED)).nonzero()[:, 0]
        if len(rows) == 0:
            return after
        fresh = self.genetic.begin(_some(lanes, rows))
        return after | {BRED + k: after[BRED + k].index_copy(0, rows, v) for k, v in fresh.items()}


def _some(lanes: Lanes, rows: Tensor) -> Lanes:
    return Lanes(lanes.starts.rows(rows), lanes.space, lanes.streams)


def _bred(state: State, rows: Tensor) -> State:
    return {k.removeprefix(BRED): v[rows] for k, v in state.items() if k.startswith(BRED)}
