"""The margin: score of the expected class minus the best other score; below zero is a misclassification.

With a class aimed at, it is the best other score minus that class's: below zero where the target is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.types import TESTED, Evaluation


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """f_y - max over j != y of f_j, shape (N,).

    >>> margin(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]))
    tensor([1.])
    """
    expected = logits.gather(1, labels[:, None])
    others = logits.scatter(1, labels[:, None], float("-inf"))
    return expected.squeeze(1) - others.amax(1)


def margin_or_target(logits: Tensor, labels: Tensor, targets: Tensor) -> Tensor:
    """The margin of the expected class, or where a class is aimed at, how far that one is behind the best other."""
    aimed = targets >= 0
    signed = torch.where(aimed, -1.0, 1.0).to(logits.dtype)
    return signed * margin(logits, torch.where(aimed, targets, labels))


@dataclass(frozen=True)
class Margin:
    """How far the tested classifier is from a failure: the margin of the expected class (or towards the target)."""

    names: ClassVar[tuple[str, ...]] = ("margin",)
    reads: ClassVar[Mapping[str, tuple[str, ...]]] = {TESTED: ()}
    goal: ClassVar[float] = 0.0

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Margins (N, 1)."""
        return margin_or_target(evaluation.outputs[TESTED], evaluation.labels, evaluation.targets)[:, None]
