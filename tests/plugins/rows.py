"""Parts of methods that foible does not have, as an author outside the package would write them.

Together with the built-in ones they have the shape of every row of the table of methods: K origins with labels of their own,
several classifiers, targets, activations with gradients, memory of a search and memory of a run.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch

from foible.objectives.margin import margin
from foible.seeding import normal
from foible.types import Proposal, Want


@dataclass(frozen=True)
class Drift:
    """Every origin wanders on its own; nobody learns anything.

    Args:
        starts: origins per search.
        size: length of a step.
    """

    starts: int = 4
    size: float = 0.4

    def begin(self, lanes):
        return {"latents": lanes.starts.latents, "round": torch.zeros(len(lanes), dtype=torch.long)}

    def ask(self, state, lanes):
        count = len(lanes)
        noise = normal(lanes.streams.each("drift", lanes.attempts, state["round"]), (self.starts, *lanes.space.shape))
        latents = lanes.space.clamp(state["latents"] + self.size * noise).flatten(0, 1)
        rows = torch.arange(count).repeat_interleave(self.starts)
        return Proposal(latents, rows, torch.arange(self.starts).repeat(count))

    def tell(self, state, lanes, proposal, feedback):
        return {"latents": proposal.latents.view_as(state["latents"]), "round": state["round"] + 1}


@dataclass(frozen=True)
class Slide:
    """Go down all columns at once, each by its own unit vector; finish after some steps.

    Args:
        columns: how many columns to follow.
        steps: when to stop.
    """

    columns: int = 2
    steps: int = 12

    @property
    def follows(self):
        return tuple(range(self.columns))

    def begin(self, lanes):
        zero = torch.zeros(len(lanes), dtype=torch.long)
        return {"latents": lanes.origins, "step": zero, "done": zero.bool()}

    def ask(self, state, lanes):
        rows = torch.arange(len(lanes))
        return Proposal(state["latents"], rows, wants=torch.full_like(rows, Want.GRADIENTS))

    def tell(self, state, lanes, proposal, feedback):
        slopes = feedback.gradients[:, : self.columns].flatten(2)
        unit = slopes / slopes.norm(dim=2, keepdim=True).clamp_min(1e-9)
        moved = state["latents"] - 0.25 * unit.sum(1).view_as(state["latents"])
        moved = (
            lanes.space.clamp(moved).mul(2**16).round().div(2**16)
        )  # the sum of squares is not exact on all processors
        step = state["step"] + 1
        return {"latents": moved, "step": step, "done": step >= self.steps}


@dataclass(frozen=True)
class Divergence:
    """Two classifiers apart, and far from what this search has seen.

    Args:
        room: how many candidates a search remembers.
    """

    room: int = 8

    names: ClassVar = ("divergence", "novelty")
    reads: ClassVar = {"tested": (), "rival": ()}

    def __call__(self, evaluation):
        apart = (evaluation.outputs["tested"] - evaluation.outputs["rival"]).abs().amax(1)
        seen = evaluation.memory["seen"][evaluation.lanes]
        near = (seen - self._bars(evaluation)[:, None]).abs().amax(2).amin(1)
        return torch.stack([-apart, -near], 1)

    def begin(self, lanes, shared):
        return {
            "seen": torch.full((len(lanes), self.room, 3), 9.0),
            "next": torch.zeros(len(lanes), dtype=torch.long),
        }

    def note(self, evaluation):
        return {"bars": self._bars(evaluation)}

    def absorb(self, memory, lanes, proposal, feedback):
        seen, place = memory["seen"].clone(), memory["next"].clone()
        for lane, bars in zip(proposal.lanes.tolist(), feedback.notes["bars"], strict=True):
            seen[lane, int(place[lane]) % self.room] = bars
            place[lane] += 1
        return {"seen": seen, "next": place}

    def _bars(self, evaluation):
        return evaluation.images[:, 0, 0, ::2]


@dataclass(frozen=True)
class Cells:
    """The margin, and bars in brightness cells that the run has not covered: nine cells, three for each bar."""

    names: ClassVar = ("margin", "uncovered")
    reads: ClassVar = {"tested": ("bars",), "rival": ("bars",)}
    goal: ClassVar = 0.0

    def __call__(self, evaluation):
        bars = evaluation.activations["tested"]["bars"]
        centres = torch.tensor([1 / 6, 3 / 6, 5 / 6], dtype=bars.dtype)
        far = (bars[:, :, None] - centres).abs().flatten(1)
        aimed = evaluation.memory["aimed"][evaluation.lanes]
        scores = margin(evaluation.outputs["tested"], evaluation.labels)
        rival = margin(evaluation.outputs["rival"], evaluation.labels)
        return torch.stack([scores - 0.25 * rival, far.gather(1, aimed[:, None])[:, 0]], 1)

    def begin(self, lanes, shared):
        free = (~shared["covered"]).nonzero()[:, 0]
        free = free if len(free) else torch.arange(9)
        return {
            "aimed": free[lanes.attempts % len(free)],
            "covered": torch.zeros(len(lanes), 9, dtype=torch.bool),
        }

    def note(self, evaluation):
        return {"cell": (evaluation.activations["tested"]["bars"].detach() * 3).clamp(0, 2.999).long()}

    def absorb(self, memory, lanes, proposal, feedback):
        covered = memory["covered"].clone()
        for lane, cells in zip(proposal.lanes.tolist(), feedback.notes["cell"], strict=True):
            covered[lane, torch.arange(3) * 3 + cells] = True
        return {**memory, "covered": covered}

    def start(self, setting):
        bars = setting.roles["tested"].classifier.inspect(setting.data.images(torch.arange(3)), ("bars",))[1]["bars"]
        covered = torch.zeros(9, dtype=torch.bool)
        covered[(torch.arange(3) * 3 + (bars * 3).clamp(0, 2.999).long()).flatten()] = True
        return {"covered": covered}

    def merge(self, shared, ended):
        return {"covered": shared["covered"] | ended["covered"].any(0)}


@dataclass(frozen=True)
class Strangeness:
    """How far the brightness of an image is from a wanted strangeness; no label is expected.

    Args:
        wanted: distance to the mean of real images that is looked for.
    """

    wanted: float = 0.125

    names: ClassVar = ("off",)
    reads: ClassVar = {"tested": ("bars",)}

    def __call__(self, evaluation):
        off = (evaluation.activations["tested"]["bars"] - evaluation.shared["mean"]).abs().amax(1)
        return (off - self.wanted).abs()[:, None]

    def begin(self, lanes, shared):
        return {"rounds": torch.zeros(len(lanes), dtype=torch.long)}

    def note(self, evaluation):
        return {}

    def absorb(self, memory, lanes, proposal, feedback):
        return {"rounds": memory["rounds"] + 1}

    def start(self, setting):
        images = setting.data.images(torch.arange(len(setting.data.labels)))
        bars = setting.roles["tested"].classifier.inspect(images, ("bars",))[1]["bars"]
        return {"mean": bars.double().mean(0).mul(2**12).round().div(2**12).float()}

    def merge(self, shared, ended):
        return shared


@dataclass(frozen=True)
class Dim:
    """A failure is an image in which no bar is bright; whatever its label."""

    reads: ClassVar = ("tested",)
    expects: ClassVar = False

    def __call__(self, evaluation):
        return evaluation.outputs["tested"].amax(1) < 6.5
