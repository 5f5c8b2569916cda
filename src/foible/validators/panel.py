"""The panel: a domain's reference classifiers, looked through together.

They differ in architecture, seed and augmentation from each other and from anything under test, and have learned to be
unsure of nonsense. Everything the judge knows comes from one pass of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.batching import Chunks, side_by_side
from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.last_features import LastFeatures
from foible.types import Images
from foible.validators.scored import CHUNK


@dataclass(frozen=True)
class Sight:
    """What the panel sees: probability of every class (N, classes), and features (N, size)."""

    votes: Tensor
    features: Tensor

    @property
    def best_two(self) -> Tensor:
        """Probability that it is one of the two likeliest classes (N,): high for what is merely ambiguous."""
        return self.votes.topk(min(2, self.votes.shape[1]), 1).values.sum(1)


class Panel:
    """Reference classifiers that vote.

    Args:
        classifiers: at least one.
        temperatures: what each one's logits are divided by, so that its probabilities can be believed; (R,).
    """

    def __init__(self, classifiers: Sequence[AdaptedClassifier], temperatures: Tensor | None = None) -> None:
        self.members = [LastFeatures(c.folded()) for c in classifiers]
        self.temperatures = torch.ones(len(self.members)) if temperatures is None else temperatures
        self.chunks = Chunks(CHUNK)

    @property
    def names(self) -> tuple[str, ...]:
        """Who votes."""
        return tuple(m.name for m in self.members)

    def __call__(self, images: Images) -> Sight:
        """Mean vote and joined features."""
        logits, features = self.passes(images)
        return Sight(self.votes(logits), features)

    def votes(self, logits: Tensor) -> Tensor:
        """Mean probability of every class (N, classes) from each member's logits (N, R, classes)."""
        return (logits / self.temperatures[None, :, None]).softmax(2).mean(1)

    def passes(self, images: Images) -> tuple[Tensor, Tensor]:
        """Logits (N, R, classes) of each member and features (N, size) of all."""
        logits, features = zip(*side_by_side(self._of_few, images.split(CHUNK)), strict=True)
        return torch.cat(logits), torch.cat(features)

    @torch.inference_mode()
    def _of_few(self, images: Images) -> tuple[Tensor, Tensor]:
        logits, features = self.chunks(self._pass, images)
        return logits.clone(), features.clone()

    def _pass(self, images: Images) -> tuple[Tensor, ...]:
        seen = [member(images) for member in self.members]
        return torch.stack([s.logits for s in seen], 1), torch.cat([s.features for s in seen], 1)
