"""A failure is an image on which two classifiers disagree; nobody's answer is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.types import RIVAL, TESTED, Evaluation


@dataclass(frozen=True)
class Disagree:
    """The tested classifier and its rival name different classes."""

    reads: ClassVar[tuple[str, ...]] = (TESTED, RIVAL)
    expects: ClassVar[bool] = False

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,)."""
        return evaluation.outputs[TESTED].argmax(1) != evaluation.outputs[RIVAL].argmax(1)
