"""The nearest failure: how far from failing, and once it fails by enough, how far from the origin.

Two columns. The margin is what a search goes down; the distance is what the best failure is chosen by. A candidate that
does not fail by `keep` is farther than any that does, and one that was not looked at through variations (a quick look) farther
still, so that a failure which rounding or a harmless variation would undo is kept only where there is no other.

With `alone`, other classifiers of the same classes (the surrogates) change the slope of the margin and not its value: a share
of the slope of their own mean margin is taken away, so that the way down leads where they go on seeing the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.classifiers.variations import SEARCHED
from foible.errors import RecipeError
from foible.objectives.margin import margin_or_target
from foible.objectives.surrogates import SURROGATES, through_variations, together
from foible.protocols import Role
from foible.types import TESTED, Evaluation, State

FAR = 1e6  # beyond any distance in a latent space
LIKELIEST = 5  # wrong classes that are noted
STEADY = "steady"  # the tested classifier, looking at variations of what it has seen as it is


@dataclass(frozen=True)
class Nearest:
    """The margin, of an image and averaged with harmless variations of it, and the latent distance of what fails by enough.

    Args:
        variations: harmless variations to look at beside the image itself; 0 looks at the image alone.
        keep: margin, in logits, by which a failure must fail to count as one here.
        alone: share of the surrogates' slope that is taken away, so that the tested classifier fails alone; 0 asks none.
    """

    variations: int = 0
    keep: float = 0.5
    alone: float = 0.0

    names: ClassVar[tuple[str, ...]] = ("margin", "distance")
    goal: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.variations <= len(SEARCHED) or self.keep < 0:
            raise RecipeError(
                f"objective nearest: variations {self.variations} must be 0 to {len(SEARCHED)} and keep {self.keep} >= 0"
            )
        if not 0 <= self.alone <= 1:
            raise RecipeError(f"objective nearest: alone {self.alone} must be 0 to 1")

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """The tested classifier, its look through variations, and the surrogates that are to go on seeing the class."""
        return dict.fromkeys((*self.weighs, *self.guides), ())

    @property
    def guides(self) -> tuple[str, ...]:
        """The image as it is shows the way to a first failure."""
        return (TESTED, SURROGATES) if self.alone else (TESTED,)

    @property
    def weighs(self) -> tuple[str, ...]:
        """The tested classifier, and its look through variations."""
        return (TESTED, STEADY) if self.variations else (TESTED,)

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The look through variations, which costs as many evaluations as there are, and the surrogates as one."""
        if self.alone and not roles[TESTED].lends:
            raise RecipeError(
                f"alone changes the slope of the tested classifier's margin, and '{roles[TESTED].classifier.name}' lends none",
                'leave it out, or go along the surrogates: search = "transfer"',
            )
        steady = {STEADY: through_variations(roles[TESTED], self.variations)} if self.variations else {}
        return steady | ({SURROGATES: together(roles)} if self.alone else {})

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 2)."""
        margins, distance = steady_margin(evaluation, self.variations, self.keep)
        if SURROGATES in evaluation.outputs:
            others = self.alone * mean_margin(evaluation.outputs[SURROGATES], evaluation)
            margins = margins - (others - others.detach())  # the margin's value, and another slope
        return torch.stack([margins, distance], 1)

    def note(self, evaluation: Evaluation) -> State:
        """The wrong classes that the tested classifier finds likeliest, (N, LIKELIEST); -1 where there are no more."""
        return {"likeliest": likeliest(evaluation.outputs[TESTED], evaluation.labels)}


def likeliest(logits: Tensor, labels: Tensor) -> Tensor:
    """The wrong classes with the highest logits (N, classes), best first, (N, LIKELIEST); -1 where there are no more."""
    wrong = logits.detach().scatter(1, labels[:, None], -torch.inf)
    count = min(LIKELIEST, wrong.shape[1] - 1)
    return torch.nn.functional.pad(wrong.topk(count).indices, (0, LIKELIEST - count), value=-1)


def steady_margin(evaluation: Evaluation, variations: int, keep: float) -> tuple[Tensor, Tensor]:
    """The margin (N,) and the ranking by distance (N,).

    Where variations were looked at, a failure must be one as it is and on average with them: the larger of both margins. The mean
    alone lets a variation that fails by far speak for an image that hardly does.
    """
    looks = evaluation.outputs[TESTED][:, None]
    margins = mean_margin(looks, evaluation)
    if STEADY in evaluation.outputs:
        looks = torch.cat([looks, evaluation.outputs[STEADY]], 1)
        margins = torch.maximum(margins, mean_margin(looks, evaluation))
    if variations and STEADY not in evaluation.outputs:
        return margins, 2 * FAR + margins.detach()
    return margins, ranked_distance(evaluation, margins.detach(), keep)


def ranked_distance(evaluation: Evaluation, margins: Tensor, keep: float) -> Tensor:
    """Latent distance (N,) of what fails by enough; everything else comes after, the nearest to failing first."""
    distance = torch.linalg.vector_norm((evaluation.latents.detach() - evaluation.origins).flatten(1), dim=1)
    return torch.where(margins <= -keep, distance, FAR + margins)


def mean_margin(logits: Tensor, evaluation: Evaluation) -> Tensor:
    """Margins (N,) of logits (N, looks, classes), averaged over the looks."""
    count = logits.shape[1]
    labels, targets = (t.repeat_interleave(count) for t in (evaluation.labels, evaluation.targets))
    each: Tensor = margin_or_target(logits.flatten(0, 1), labels, targets).unflatten(0, (-1, count))
    return each.mean(1)
