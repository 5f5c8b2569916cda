"""More than two models on the same images: how often each two of them disagree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.protocols import Classifier
from foible.types import Images


@dataclass(frozen=True)
class Together:
    """Disagreements of every two models (models, models), of all together, and where one alone stands against the others."""

    names: tuple[str, ...]
    images: int
    pairs: Tensor
    divided: int
    alone: Tensor


def together(models: Sequence[Classifier], batches: Iterable[tuple[Images, Tensor]]) -> Together:
    """Ask all models about all images."""
    said = [torch.empty(len(models), 0, dtype=torch.long)]
    with torch.inference_mode():
        for images, _ in batches:
            said.append(torch.stack([model(images).argmax(1).cpu() for model in models]))
    return counted(tuple(m.name for m in models), torch.cat(said, 1))


def counted(names: tuple[str, ...], said: Tensor) -> Together:
    """The same from answers (models, images)."""
    differ = said[:, None] != said[None]
    others = differ.sum(1)  # (models, images): from how many a model differs
    agree = len(names) - 1 - others  # with how many it agrees
    alone = (agree == 0) & (agree.amax(0) == len(names) - 2)
    if len(names) < 3:
        alone = torch.zeros_like(alone)
    return Together(names, said.shape[1], differ.sum(2), int(differ.flatten(0, 1).any(0).sum()), alone.sum(1))
