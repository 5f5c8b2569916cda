"""The nearest failure: how far from failing, and once it fails by enough, how far from the origin.

Two columns. The margin is what a search goes down; the distance is what the best failure is chosen by. A candidate that
does not fail by `keep` is farther than any that does, so that a failure which rounding or a harmless variation would
undo is kept only where there is no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.classifiers.variations import SEARCHED, Varied
from foible.errors import RecipeError
from foible.objectives.margin import margin_or_target
from foible.protocols import Role
from foible.types import TESTED, Evaluation

FAR = 1e6  # beyond any distance in a latent space
STEADY = "steady"  # the tested classifier, looking at variations


@dataclass(frozen=True)
class Nearest:
    """The margin, averaged over harmless variations of the image, and the latent distance of what fails by enough.

    Args:
        variations: harmless variations to average over; 0 looks at the image alone.
        keep: margin, in logits, by which a failure must fail to count as one here.
    """

    variations: int = 0
    keep: float = 0.2

    names: ClassVar[tuple[str, ...]] = ("margin", "distance")
    goal: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.variations <= len(SEARCHED) or self.keep < 0:
            raise RecipeError(
                f"objective nearest: variations {self.variations} must be 0 to {len(SEARCHED)} and keep {self.keep} >= 0"
            )

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """The tested classifier, or its look through variations."""
        return {STEADY: ()} if self.variations else {TESTED: ()}

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The look through variations costs as many evaluations as there are."""
        if not self.variations:
            return {}
        return {STEADY: through_variations(roles[TESTED], self.variations)}

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 2)."""
        margins = mean_margin(evaluation.outputs[STEADY if self.variations else TESTED], evaluation)
        return torch.stack([margins, ranked_distance(evaluation, margins.detach(), self.keep)], 1)


def through_variations(role: Role, count: int) -> Role:
    """A role that looks at so many variations of each image, at that price."""
    looks = list(SEARCHED.values())[:count]
    return role._replace(classifier=Varied(role.classifier, looks), cost=count * role.cost)


def ranked_distance(evaluation: Evaluation, margins: Tensor, keep: float) -> Tensor:
    """Latent distance (N,) of what fails by enough; everything else comes after, the nearest to failing first."""
    distance = torch.linalg.vector_norm((evaluation.latents.detach() - evaluation.origins).flatten(1), dim=1)
    return torch.where(margins <= -keep, distance, FAR + margins)


def mean_margin(logits: Tensor, evaluation: Evaluation) -> Tensor:
    """Margins (N,), averaged where a role looked at variations."""
    if logits.ndim == 2:
        return margin_or_target(logits, evaluation.labels, evaluation.targets)
    count = logits.shape[1]
    labels, targets = (t.repeat_interleave(count) for t in (evaluation.labels, evaluation.targets))
    each: Tensor = margin_or_target(logits.flatten(0, 1), labels, targets).unflatten(0, (-1, count))
    return each.mean(1)
