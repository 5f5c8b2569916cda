"""Untargeted margin: score of the expected class minus the best other score; below zero is a misclassification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.types import Evaluation


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """f_y - max over j != y of f_j, shape (N,).

    >>> margin(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]))
    tensor([1.])
    """
    expected = logits.gather(1, labels[:, None])
    others = logits.scatter(1, labels[:, None], float("-inf"))
    return expected.squeeze(1) - others.amax(1)


@dataclass(frozen=True)
class Margin:
    """Minimise the margin of the expected class."""

    names: ClassVar[tuple[str, ...]] = ("margin",)

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Margins (N, 1)."""
        return margin(evaluation.logits, evaluation.labels)[:, None]
