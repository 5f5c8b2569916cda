"""How far a candidate is from the place where two nearly identical classifiers change their mind.

Such a pair (a model and its int8 version) disagrees in a thin sheet at the boundary of either. With m the margin of the
class that the tested classifier names at the origin, t and r the two classifiers:

    margin    m_t: what a search goes down to come to the boundary
    middle    (m_t + m_r) / 2: zero in the middle of the sheet; there the two margins have opposite signs, whatever its
              thickness, unless they are equal

Both classifiers look at the image rounded to 8 bits, which is the one that is stored: on a sheet this thin, rounding
decides. Gradients pass the rounding as if it were not there, and only those of `guide` are used: of the tested classifier, of
its rival where that one alone lends them (an ONNX file and the network it was exported from), or of a surrogate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.classifiers.stored import AsStored
from foible.objectives.margin import margin
from foible.protocols import Lanes, Role
from foible.types import RIVAL, TESTED, Evaluation, Feedback, Proposal, State

UNKNOWN = -1


@dataclass(frozen=True)
class Between:
    """The margin of the class named at the origin: of who guides the search, and the mean of both classifiers.

    Args:
        guide: the role whose margin is followed: "tested", "rival", or a surrogate's.
    """

    guide: str = TESTED

    names: ClassVar[tuple[str, ...]] = ("margin", "middle")

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """Both, and who guides."""
        return dict.fromkeys((TESTED, RIVAL, self.guide), ())

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """All of them, looking at rounded images; only the guide is asked for gradients and paid for them."""
        return {
            n: r._replace(classifier=AsStored(r.classifier), lends=r.lends and n == self.guide)
            for n, r in roles.items()
            if n in self.reads
        }

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 2)."""
        tested, rival = evaluation.outputs[TESTED], evaluation.outputs[RIVAL]
        named = evaluation.memory["named"].to(tested.device)[evaluation.lanes]
        named = torch.where(named == UNKNOWN, tested.argmax(1), named)
        middle = (margin(tested, named) + margin(rival, named)).detach() / 2
        return torch.stack([margin(evaluation.outputs[self.guide], named), middle], 1)

    def begin(self, lanes: Lanes, shared: State) -> State:  # noqa: ARG002
        """Nothing has been named yet."""
        return {"named": torch.full((len(lanes),), UNKNOWN)}

    def note(self, evaluation: Evaluation) -> State:
        """What the tested classifier says."""
        return {"named": evaluation.outputs[TESTED].argmax(1)}

    def absorb(self, memory: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """The first answer of each search is the class of its origin."""
        named = memory["named"].clone()
        for lane, said in zip(proposal.lanes.tolist(), feedback.notes["named"].tolist(), strict=True):
            if named[lane] == UNKNOWN:
                named[lane] = said
        return {"named": named}
