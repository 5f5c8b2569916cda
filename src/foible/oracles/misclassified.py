"""A failure is an answer other than the expected class; a tie in favour of the expected class is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.objectives.margin import margin
from foible.types import TESTED, Evaluation


@dataclass(frozen=True)
class Misclassified:
    """Some other class scores strictly higher than the expected one."""

    reads: ClassVar[tuple[str, ...]] = (TESTED,)
    expects: ClassVar[bool] = True

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,) with a negative margin."""
        return margin(evaluation.outputs[TESTED], evaluation.labels) < 0
