"""The validators' word in the score: a failure that does not count is none, and the search turns back."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from foible.faces import Priced
from foible.images import rounded
from foible.protocols import Validator
from foible.records import About, everyone_accepts
from foible.types import Images, State


def price_of(validators: Sequence[Validator]) -> int:
    """Evaluations of a network that one look of all validators costs."""
    return sum(v.cost if isinstance(v, Priced) else 1 for v in validators)


def counting(validators: Sequence[Validator], images: Images, labels: Tensor, about: About | None = None) -> Tensor:
    """Whether every validator accepts an image and its label, or one of them where that is asked, (N,)."""
    shown, labels = rounded(images.detach().cpu()), labels.cpu()
    said = [v(shown, labels) for v in validators]
    columns = zip(*said, strict=True)
    return torch.tensor([everyone_accepts((v for one in column for v in one), about) for column in columns])


def turned_back(validators: Sequence[Validator], images: Images, labels: Tensor, failed: Tensor) -> State:
    """Failures that do not count are none, but "refused".

    Only failing candidates are shown to the validators; each look is counted in "judged".
    """
    judged, refused = torch.zeros_like(failed, dtype=torch.long), torch.zeros_like(failed)
    suspects = failed.nonzero()[:, 0]
    if len(suspects) == 0:
        return {"judged": judged, "refused": refused}
    count = counting(validators, images[suspects], labels[suspects]).to(failed.device)
    refused[suspects[~count]] = True
    judged[suspects] = price_of(validators)
    return {"failed": failed & ~refused, "refused": refused, "judged": judged}


def worsened(scores: Tensor, refused: Tensor) -> Tensor:
    """Scores in which what was refused is as bad as it was good, so that a search turns back."""
    return torch.where(refused[:, None], scores.detach().abs() + 1, scores.detach())
