"""A failure is an image on which two classifiers' answers are far apart, whether or not they name the same class.

The question after a conversion: *by how much did it change what the model says?* The distance is the largest difference of
any class's probability; with `of = "scores"` that of the logits, where two exports of the same weights can be held to a
tolerance that probabilities near 0 and 1 would hide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.errors import RecipeError, did_you_mean
from foible.types import RIVAL, TESTED, Evaluation

KINDS = ("probabilities", "scores")


@dataclass(frozen=True)
class Apart:
    """Some class's probability (or score) differs by more than a tolerance between the tested classifier and its rival.

    Args:
        tolerance: the largest difference that is still the same answer.
        of: "probabilities" or "scores".
    """

    tolerance: float = 0.1
    of: str = "probabilities"

    reads: ClassVar[tuple[str, ...]] = (TESTED, RIVAL)
    expects: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.of not in KINDS:
            raise RecipeError(f"oracle apart: of = '{self.of}'", did_you_mean(self.of, KINDS))
        if not 0 <= self.tolerance < (1 if self.of == "probabilities" else float("inf")):
            raise RecipeError(
                f"oracle apart: tolerance {self.tolerance} cannot be used for {self.of}",
                "at least 0; probabilities differ by less than 1",
            )

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,)."""
        return gap(evaluation.outputs[TESTED], evaluation.outputs[RIVAL], self.of) > self.tolerance


def gap(first: Tensor, second: Tensor, of: str = "probabilities") -> Tensor:
    """The largest difference (N,) between two classifiers' probabilities or scores (N, classes), in double precision."""
    first, second = first.double(), second.double()
    if of == "probabilities":
        first, second = first.softmax(1), second.softmax(1)
    return (first - second).abs().amax(1)
