"""A failure is an image on which one of two classifiers is right and the other wrong.

With the old model tested and the new one as rival, `right = "tested"` is a regression (old right, new wrong) and
`right = "rival"` a repair. The label of the origin is the expected answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.errors import RecipeError, did_you_mean
from foible.objectives.margin import margin
from foible.types import RIVAL, TESTED, Evaluation


@dataclass(frozen=True)
class Oriented:
    """One classifier is right and the other is not; a tie in favour of the expected class is right.

    Args:
        right: who is: "tested" (its rival got worse) or "rival" (it got better).
    """

    right: str = TESTED

    reads: ClassVar[tuple[str, ...]] = (TESTED, RIVAL)
    expects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.right not in self.reads:
            raise RecipeError(f"oracle oriented: right = '{self.right}'", did_you_mean(self.right, self.reads))

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,)."""
        wrong = RIVAL if self.right == TESTED else TESTED
        margins = {role: margin(evaluation.outputs[role], evaluation.labels) for role in self.reads}
        return (margins[self.right] >= 0) & (margins[wrong] < 0)
