"""A failure is the answer that was aimed at; any other wrong answer is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.objectives.margin import margin
from foible.types import TESTED, Evaluation


@dataclass(frozen=True)
class Targeted:
    """The class aimed at scores strictly higher than every other one."""

    reads: ClassVar[tuple[str, ...]] = (TESTED,)
    expects: ClassVar[bool] = True

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,); false where no class is aimed at."""
        aimed = evaluation.targets >= 0
        return aimed & (margin(evaluation.outputs[TESTED], evaluation.targets.clamp_min(0)) > 0)
