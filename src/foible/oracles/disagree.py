"""A failure is an image on which two classifiers disagree; nobody's answer is expected."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.types import RIVAL, TESTED, Evaluation


@dataclass(frozen=True)
class Disagree:
    """The tested classifier and its rival name different classes, or any two of several classifiers.

    Args:
        among: the roles that are asked.
    """

    among: tuple[str, ...] = (TESTED, RIVAL)

    def __post_init__(self) -> None:
        object.__setattr__(self, "among", tuple(self.among))
        if len(set(self.among)) < 2:
            raise RecipeError(
                f"oracle disagree: among {list(self.among)} nobody can disagree", "name two roles or more"
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """All of them."""
        return self.among

    @property
    def expects(self) -> bool:
        """No answer is."""
        return False

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,)."""
        said = torch.stack([evaluation.outputs[role].argmax(1) for role in self.among])
        return (said != said[0]).any(0)
