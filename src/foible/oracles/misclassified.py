"""A failure is an answer other than the expected class; a tie in favour of the expected class is none."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from foible.objectives.margin import margin
from foible.types import Evaluation


@dataclass(frozen=True)
class Misclassified:
    """Some other class scores strictly higher than the expected one."""

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,) with a negative margin."""
        return margin(evaluation.logits, evaluation.labels) < 0
