"""What draws an image towards a failure: the first column of a coverage-guided search, as two papers have it.

F_i(x)[c]: score of model i for class c, the logit. All are to be minimised.

    margin   F[c] - max over others                                      foible's own
    apart    lambda1 F_tested[c] - sum over the other models F_i[c]      DeepXplore (Pei et al., SOSP 2017), c agreed on
    next     F[c] - 1/2 sum of the `next_classes` runners-up             DLFuzz (Guo et al., FSE 2018)

Both published programs take probabilities in the place of logits for their larger models. A softmax that is sure of its
answer has next to no slope, so logits are used throughout.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from foible.types import TESTED

SHARE = 0.5  # of each runner-up, as published


def apart(outputs: Mapping[str, Tensor], agreed: Tensor, others: tuple[str, ...], lambda1: float) -> Tensor:
    """How sure the tested classifier is of the class agreed on, less how sure the others are (N,)."""
    mine = outputs[TESTED].gather(1, agreed[:, None])[:, 0]
    theirs = [outputs[role].gather(1, agreed[:, None])[:, 0] for role in others]
    return lambda1 * mine - torch.stack(theirs).sum(0)


def behind_the_next(logits: Tensor, labels: Tensor, next_classes: int) -> Tensor:
    """The expected class's score less half of those of the runners-up (N,)."""
    others = logits.scatter(1, labels[:, None], float("-inf"))
    best = others.topk(min(next_classes, logits.shape[1] - 1)).values
    return logits.gather(1, labels[:, None])[:, 0] - SHARE * best.sum(1)
