"""How far a rival has fallen behind the tested classifier on the expected class, and what kind of difference that is.

With p the tested classifier's probabilities (the old model), q the rival's (the new one) and y the expected class:

    loss       q_y - p_y: below 0 the rival is less sure of it
    category   of DRFuzz, see `CATEGORIES`
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from foible.protocols import Lanes
from foible.types import RIVAL, TESTED, Evaluation, Feedback, Proposal, State

CATEGORIES = ("regression", "both wrong", "weakened", "half weakened", "fix", "other")
WEAK, HALF = 0.3, 0.15  # how much less sure of the expected class


class Regression:
    """What the rival loses on the expected class against the tested classifier; probabilities of both are noted."""

    names: ClassVar[tuple[str, ...]] = ("loss", "category")
    reads: ClassVar[Mapping[str, tuple[str, ...]]] = {TESTED: (), RIVAL: ()}

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 2); NaN where nobody was asked."""
        if not evaluation.outputs:
            return torch.full((len(evaluation.labels), 2), torch.nan, device=evaluation.labels.device)
        p, q = (evaluation.outputs[role].double().softmax(1) for role in (TESTED, RIVAL))
        loss = (q - p).gather(1, evaluation.labels[:, None])[:, 0]
        kind = category(p, q, evaluation.labels)
        return torch.stack([loss.mul(2**20).round().div(2**20), kind.to(loss)], 1).float()

    def begin(self, lanes: Lanes, shared: State) -> State:  # noqa: ARG002
        """Nothing to remember."""
        return {"nothing": torch.zeros(len(lanes), 1)}

    def note(self, evaluation: Evaluation) -> State:
        """Probabilities of both, (N, classes) each, in millionths: last bits may depend on the place in a batch."""
        if not evaluation.outputs:
            return {}
        said = {role: evaluation.outputs[role].double().softmax(1) for role in (TESTED, RIVAL)}
        return {role: (1e6 * values).round().long() for role, values in said.items()}

    def absorb(self, memory: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """Nothing changes."""
        return memory


def category(p: Tensor, q: Tensor, labels: Tensor) -> Tensor:
    """Positions in `CATEGORIES` (N,), from probabilities (N, classes) of the tested classifier and its rival."""
    right_p, right_q = p.argmax(1) == labels, q.argmax(1) == labels
    gap = (p - q).gather(1, labels[:, None])[:, 0]
    kind = torch.full_like(labels, CATEGORIES.index("other"))
    kind[right_p & right_q & (gap > HALF)] = CATEGORIES.index("half weakened")
    kind[right_p & right_q & (gap > WEAK)] = CATEGORIES.index("weakened")
    kind[~right_p & right_q] = CATEGORIES.index("fix")
    kind[~right_p & ~right_q] = CATEGORIES.index("both wrong")
    kind[right_p & ~right_q] = CATEGORIES.index("regression")
    return kind
