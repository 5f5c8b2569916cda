"""What raw scores mean, and how they become logits in the domain's class order."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from foible.classifiers.network import OutputKind
from foible.errors import RecipeError

SMALLEST = 1e-12  # a probability of nought has no logarithm


def output_kind(scores: Tensor) -> OutputKind:
    """Logits, probabilities or log-probabilities, told from scores (N, classes) of several images."""
    scores = scores.double()
    ones = torch.ones(len(scores), dtype=torch.float64, device=scores.device)
    if bool((scores >= 0).all()) and torch.allclose(scores.sum(1), ones, atol=1e-3):
        return "probabilities"
    if bool((scores <= 0).all()) and torch.allclose(scores.exp().sum(1), ones, atol=1e-3):
        return "log-probabilities"
    return "logits"


def to_logits(scores: Tensor, output: OutputKind) -> Tensor:
    """Logits whose softmax is what the model means; log-probabilities are logits already."""
    return scores.clamp_min(SMALLEST).log() if output == "probabilities" else scores


def class_columns(name: str, own: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...] | None:
    """Which of a classifier's columns stand for the domain's classes, by name; None when they already agree.

    A classifier may know more classes than the domain: the others are left out.
    """
    if tuple(own) == tuple(wanted):
        return None
    lacking = [c for c in wanted if c not in own]
    if lacking:
        raise RecipeError(
            f"classifier '{name}' does not name the classes {', '.join(lacking[:5])} of the domain; "
            f"it names {', '.join(own[:5])}{'...' if len(own) > 5 else ''}",
            "give classes in the order of its scores, spelt as in the domain",
        )
    if len(set(own)) != len(own):
        raise RecipeError(f"classifier '{name}' names a class twice", "each column of its scores has its own name")
    return tuple(list(own).index(c) for c in wanted)


def class_order(scores: Tensor, labels: Tensor) -> Tensor:
    """For each class of the domain, the column of the scores that fits it best (an assignment without repeats)."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    count = scores.shape[1]
    table = torch.zeros(count, count).index_put_((labels, scores.argmax(1)), torch.ones(len(labels)), accumulate=True)
    return torch.from_numpy(linear_sum_assignment(-table.numpy())[1])


def share_right(scores: Tensor, labels: Tensor) -> float:
    """Accuracy."""
    return float((scores.argmax(1) == labels).float().mean())
