"""A failure is the answer that was aimed at; any other wrong answer is none.

With a `share` it is enough that the class aimed at has that much of the probability: how easily a classifier *leans* towards
a class says more about its training labels than how easily it falls for it (docs/boundary.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.errors import RecipeError
from foible.objectives.margin import margin
from foible.types import TESTED, Evaluation


@dataclass(frozen=True)
class Targeted:
    """The class aimed at scores strictly higher than every other one, or has a share of the probability.

    Args:
        share: of the probability, 0 to 1, that the class aimed at must have; left out: it must be the first.
    """

    share: float | None = None

    reads: ClassVar[tuple[str, ...]] = (TESTED,)
    expects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise RecipeError(f"oracle targeted: share {self.share} must be above 0 and below 1")

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,); false where no class is aimed at."""
        aimed, targets = evaluation.targets >= 0, evaluation.targets.clamp_min(0)
        logits = evaluation.outputs[TESTED]
        if self.share is None:
            return aimed & (margin(logits, targets) > 0)
        return aimed & (logits.double().softmax(1).gather(1, targets[:, None])[:, 0] >= self.share)
