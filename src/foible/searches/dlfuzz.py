"""DLFuzz: small steps towards other classes and towards uncovered units, from the origin and from what covered more.

Guo, Jiang, Zhao, Chen and Sun, FSE 2018; the program is turned2670/DLFuzz.

    paper                                        here
    sum of the next k classes' scores - F[c]     first column of the objective `covering`, pull "next"
    lambda sum of n units                        its second column; strategies 0 to 3 are chooses = "often", "rarely", "heavy", "near"
    seed list of one seed                        state["queue"], of `room` places

1. `steps` steps from the first image of the queue (`joint.py`), which at first holds the origin.
2. A candidate that adds more than rise / (attempt + 1) to the coverage, and more than any of its search did before it, joins the queue.
3. The next of the queue, until it is empty.

Differs from the original in what is wrong there: (a) its limit on distances holds for the queue only, here the ball holds for
every candidate; (b) it queues images by reference and then changes them in place; (c) it takes a queued image's present answer
for the original label, here that is the origin's; (d) it counts every later iterate of a success again, here a search ends with
a confirmed failure (`ends = "never"` and `keeps = "every"` go on). What a search adds is compared with what the run had covered when
its wave began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.searches.joint import Joint
from foible.types import Feedback, Proposal, State


@dataclass(frozen=True)
class DLFuzz(Joint):
    """Steps towards other classes and uncovered units, and on from whatever covered more.

    Args:
        steps: gradient steps from each image of the queue.
        weight: of coverage against the other classes; 0: the control.
        criterion: the coverage that guides: foible ls coverage.
        chooses: which obligations, or units by a published strategy: "often", "rarely", "heavy", "near".
        count: obligations or units aimed at together.
        room: images of a queue.
        rise: share of the coverage that the first origin's candidates must add to be queued.
    """

    steps: int = 5
    step: float = 0.2
    weight: float = 0.5
    criterion: str = "nc"
    chooses: str = "cheapest"
    count: int = 5
    room: int = 4
    rise: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.room < 1 or self.count < 1 or self.rise < 0:
            raise RecipeError(
                f"dlfuzz: room {self.room} and count {self.count} must be at least 1, rise {self.rise} at least 0"
            )

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Units of the tested classifier alone; every candidate covers, as published."""
        objective = {
            "use": "covering",
            "pull": "next",
            "criterion": self.criterion,
            "chooses": self.chooses,
            "count": self.count,
            "tells_gain": True,
        }
        return {"objective": objective}

    def begin(self, lanes: Lanes) -> State:
        """The queue holds the origin."""
        state = super().begin(lanes)
        latents, zero = state["latents"], state["step"]
        queue = torch.zeros(len(lanes), self.room, *lanes.space.shape)
        queue[:, 0] = latents
        return {
            **state,
            "queue": queue,
            "taken": zero + 1,
            "queued": zero + 1,
            "most": torch.zeros(len(lanes)).double(),
        }

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:
        """Queue what adds coverage; a step down, or the next of the queue."""
        gain = feedback.notes["gain"].double() if "gain" in feedback.notes else torch.zeros(len(lanes)).double()
        state = self._queued(state, lanes, proposal, gain)
        over = state["step"] >= self.steps
        waiting = state["taken"] < state["queued"]
        place = state["taken"].clamp_max(self.room - 1)
        following = state["queue"][torch.arange(len(lanes)), place]
        moved = self.stepped(state["latents"], lanes, feedback, state["step"])
        return {
            **state,
            "latents": torch.where(_wide(over, moved), following, moved),
            "step": torch.where(over, 0, state["step"] + 1),
            "taken": state["taken"] + (over & waiting),
            "done": over & ~waiting,
        }

    def _queued(self, state: State, lanes: Lanes, proposal: Proposal, gain: Tensor) -> State:
        """The queue with candidates that add enough; the origin itself is there already."""
        enough = gain > state["most"] + self.rise / (lanes.attempts + 1)
        joins = enough & (state["step"] > 0) & (state["queued"] < self.room)
        queue, rows = state["queue"].clone(), joins.nonzero()[:, 0]
        queue[rows, state["queued"][rows]] = proposal.latents[rows]
        return {
            **state,
            "queue": queue,
            "queued": state["queued"] + joins,
            "most": torch.maximum(state["most"], gain),
        }


def _wide(mask: Tensor, like: Tensor) -> Tensor:
    return mask.view(-1, *[1] * (like.ndim - 1))
