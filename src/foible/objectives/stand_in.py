"""The nearest failure of a black box, with surrogates that say which way to go.

Three columns: margin and distance of the tested classifier as in `nearest`, and `guide`, the mean margin of the
surrogates, which lend their gradients and are not counted. Where only the surrogates were asked, the first two are NaN; where only
the tested classifier was, the third is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.objectives.nearest import Nearest, likeliest, mean_margin, steady_margin
from foible.objectives.surrogates import SURROGATES, together
from foible.protocols import Role
from foible.types import TESTED, Evaluation, State


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
        return {**Nearest(self.variations, self.keep).reads, SURROGATES: ()}

    @property
    def guides(self) -> tuple[str, ...]:
        """The surrogates alone."""
        return (SURROGATES,)

    @property
    def weighs(self) -> tuple[str, ...]:
        """The tested classifier, and its look through variations."""
        return Nearest(self.variations, self.keep).weighs

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The surrogates as one, and the looks through variations."""
        own = Nearest(self.variations, self.keep).derive(roles)
        return {**own, SURROGATES: together(roles, self.variations)}

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 3)."""
        if TESTED not in evaluation.outputs:
            guide = mean_margin(evaluation.outputs[SURROGATES], evaluation)
            unknown = torch.full_like(guide, torch.nan)
            return torch.stack([unknown, unknown, guide], 1)
        margins, distance = steady_margin(evaluation, self.variations, self.keep)
        asked = SURROGATES in evaluation.outputs
        guide = mean_margin(evaluation.outputs[SURROGATES], evaluation) if asked else torch.zeros_like(margins)
        return torch.stack([margins.detach(), distance, guide], 1)

    def note(self, evaluation: Evaluation) -> State:
        """The wrong classes that the tested classifier finds likeliest, (N, LIKELIEST); the surrogates where it was not asked."""
        outputs = evaluation.outputs
        said = outputs[TESTED] if TESTED in outputs else outputs[SURROGATES].mean(1)
        return {"likeliest": likeliest(said, evaluation.labels)}
