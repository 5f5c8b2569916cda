"""Random search: the baseline beside every result.

Each candidate is the origin plus a normal perturbation whose size is drawn from the steps that the genetic search may
take: the initial one, doubled up to the cap. It learns nothing from scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.protocols import Lanes
from foible.searches.extent import extent_fraction, initial_step
from foible.seeding import normal, uniform
from foible.types import Feedback, Proposal, State


@dataclass(frozen=True)
class Random:
    """Independent draws around each origin.

    Args:
        batch: candidates per origin and round.
        extent: smallest step: "low", "high", or a fraction of the latent range.
        cap: largest step, in multiples of the smallest.
        starts: origins per search; draws go round them.
    """

    batch: int = 25
    extent: str | float = "high"
    cap: float = 16.0
    starts: int = 1

    def __post_init__(self) -> None:
        if self.batch < 1 or self.cap < 1 or self.starts < 1:
            raise RecipeError(
                f"random search: batch {self.batch}, cap {self.cap} and starts {self.starts} must be at least 1"
            )
        extent_fraction(self.extent)

    def steps(self, initial: float) -> Tensor:
        """The sizes to draw from: a table, because a function such as exp may round differently in another batch."""
        doublings = math.floor(math.log2(self.cap))
        return torch.tensor([initial * 2**k for k in range(doublings + 1)])

    def begin(self, lanes: Lanes) -> State:
        """Nothing but the round to remember."""
        return {"round": torch.zeros(len(lanes), dtype=torch.long)}

    def ask(self, state: State, lanes: Lanes) -> Proposal:
        """Fresh draws for every lane."""
        streams = lanes.streams.each("random", lanes.attempts, state["round"])
        steps = self.steps(initial_step(self.extent, lanes.space))
        sizes = steps[(uniform(streams, (self.batch,)) * len(steps)).long()]
        noise = normal(streams, (self.batch, *lanes.space.shape))
        sizes = sizes.view(*sizes.shape, *[1] * len(lanes.space.shape))
        turn = torch.arange(self.batch) % self.starts
        latents = lanes.space.clamp(lanes.starts.latents[:, turn] + sizes * noise)
        rows = torch.arange(len(latents)).repeat_interleave(self.batch)
        return Proposal(latents.flatten(0, 1), rows, turn.repeat(len(latents)))

    def tell(self, state: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """On to the next round."""
        return {"round": state["round"] + 1}
