"""The nearest failure of a black box, with surrogates that say which way to go.

Three columns: margin and distance of the tested classifier as in `nearest`, and `guide`, the mean margin of the
surrogates, which lend their gradients and are not counted. Where only the surrogates were asked, the first two are NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.objectives.nearest import Nearest, likeliest, mean_margin, steady_margin, through_variations
from foible.protocols import Classifier, Role
from foible.types import TESTED, Capability, Evaluation, Images, State

GUIDE = "surrogates"


@dataclass(frozen=True)
class StandIn:
    """The margin and distance of a black box, and the mean margin of surrogates that lend their gradients.

    Args:
        variations: harmless variations to look at beside the image itself; 0 looks at the image alone.
        keep: margin, in logits, by which a failure must fail to count as one here.
    """

    variations: int = 0
    keep: float = 0.5

    names: ClassVar[tuple[str, ...]] = ("margin", "distance", "guide")
    goal: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        Nearest(self.variations, self.keep)  # refuses what it would refuse

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """The tested classifier, its look through variations, and the surrogates together."""
        return {**Nearest(self.variations, self.keep).reads, GUIDE: ()}

    @property
    def guides(self) -> tuple[str, ...]:
        """The surrogates alone."""
        return (GUIDE,)

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The surrogates as one, and the looks through variations."""
        lending = [role for role in roles.values() if role.free and role.lends]
        if not lending:
            raise RecipeError(
                "there is no surrogate whose gradients could show the way",
                'name one or more: [classifiers] surrogate = "..."; any PyTorch model of the same classes will do',
            )
        looks = [*lending, *(through_variations(role, self.variations) for role in lending if self.variations)]
        together = Role(Together([role.classifier for role in looks]), free=True, cost=0)
        own = Nearest(self.variations, self.keep).derive(roles)
        return {**own, GUIDE: together}

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 3)."""
        guide = mean_margin(evaluation.outputs[GUIDE], evaluation)
        if TESTED not in evaluation.outputs:
            unknown = torch.full_like(guide, torch.nan)
            return torch.stack([unknown, unknown, guide], 1)
        margins, distance = steady_margin(evaluation, self.variations, self.keep)
        return torch.stack([margins.detach(), distance, guide], 1)

    def note(self, evaluation: Evaluation) -> State:
        """The wrong classes that the tested classifier finds likeliest, (N, LIKELIEST); the surrogates where it was not asked."""
        said = evaluation.outputs.get(TESTED, evaluation.outputs[GUIDE].mean(1))
        return {"likeliest": likeliest(said, evaluation.labels)}


class Together:
    """Several classifiers of the same classes as one: logits (N, looks, classes)."""

    offers = frozenset({Capability.GRADIENT})

    def __init__(self, members: Sequence[Classifier]) -> None:
        self.members = tuple(members)
        self.name, self.classes = " and ".join(m.name for m in members), members[0].classes

    def __call__(self, images: Images) -> Tensor:
        """Logits of every look of every member."""
        said = [member(images) for member in self.members]
        return torch.cat([logits if logits.ndim == 3 else logits[:, None] for logits in said], 1)
