"""A failure is an image on which classifiers disagree; nobody's answer is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.objectives.divergence import named_rivals
from foible.types import RIVAL, TESTED, Evaluation


@dataclass(frozen=True)
class Disagree:
    """The tested classifier and a rival name different classes.

    Args:
        rivals: the roles of the others; more than one: any of them may differ.
    """

    rivals: tuple[str, ...] = (RIVAL,)

    expects: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rivals", named_rivals("oracle disagree", self.rivals))

    @property
    def reads(self) -> tuple[str, ...]:
        """All of them."""
        return (TESTED, *self.rivals)

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,)."""
        named = evaluation.outputs[TESTED].argmax(1)
        return torch.stack([evaluation.outputs[r].argmax(1) != named for r in self.rivals]).any(0)
