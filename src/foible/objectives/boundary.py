"""The border of a class: how far from it a candidate is, and all that is worth knowing about one that has crossed it.

Kang, Feldt, Yoo, "Deceiving humans and machines alike: search-based test input generation for DNNs using variational
autoencoders" (SINVAD, TOSEM 2024): Eq. 1 (the nearest class change), Eq. 3 (the gap U), Eq. 4 (the same towards a class).

    paper            here
    z0, z            evaluation.origins, evaluation.latents
    U(x)             gap: largest softmax probability minus the second largest
    fitness          distance: L1(z - z0) of what has crossed; what has not comes after, the nearest to crossing first

Eight columns. `margin` is what a search goes down and `distance` what the best crossing is chosen by; the others are
measures that a finding keeps: the gap, the L1 and L2 distance, how many coordinates differ from the origin's, and the two
classes between which the image lies.

On the border a thousandth of a grey level decides, so the tested classifier is shown every candidate as a file would hold
it, rounded to 8 bits: what is found is what is stored. Gradients pass through the rounding as if it were not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.classifiers.stored import AsStored
from foible.errors import RecipeError
from foible.objectives.margin import margin_or_target
from foible.objectives.nearest import FAR
from foible.protocols import Role
from foible.types import TESTED, Evaluation

PLACES = 6  # of probabilities: the last bits of exp may depend on where in a batch a row stands


@dataclass(frozen=True)
class Boundary:
    """The nearest class change: margin and L1 distance, and where between which two classes it is.

    Args:
        keep: margin, in logits, by which a crossing must have crossed, so that it still has in another batch.
        stored: whether the classifier is shown candidates as they would be stored, rounded to 8 bits.
    """

    keep: float = 1e-4
    stored: bool = True

    names: ClassVar[tuple[str, ...]] = ("margin", "distance", "gap", "l1", "l2", "changed", "first", "second")
    reads: ClassVar[Mapping[str, tuple[str, ...]]] = {TESTED: ()}
    goal: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.keep < 0:
            raise RecipeError(f"objective boundary: keep {self.keep} must be at least 0")

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The tested classifier, looking at what would be stored."""
        role = roles[TESTED]
        return {TESTED: role._replace(classifier=AsStored(role.classifier))} if self.stored else {}

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 8)."""
        logits = evaluation.outputs[TESTED]
        margins = margin_or_target(logits, evaluation.labels, evaluation.targets)
        moved = (evaluation.latents.detach() - evaluation.origins).flatten(1).double()
        l1, l2, changed = moved.abs().sum(1), moved.square().sum(1).sqrt(), (moved != 0).sum(1)
        distance = torch.where(margins.detach() <= -self.keep, l1, FAR + margins.detach())
        gaps, (first, second) = top_two(logits.detach())
        measures = [column.to(margins.dtype) for column in (distance, gaps, l1, l2, changed, first, second)]
        return torch.stack([margins, *measures], 1)


def top_two(logits: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """The gap U between the two largest probabilities (N,), and which two classes have them.

    >>> top_two(torch.tensor([[0.0, 0.0, -99.0]]))
    (tensor([0.], dtype=torch.float64), (tensor([0]), tensor([1])))
    """
    order = logits.double().sort(dim=1, descending=True, stable=True)
    shares = order.values.softmax(1)
    gaps = ((shares[:, 0] - shares[:, 1]) * 10**PLACES).round() / 10**PLACES
    return gaps, (order.indices[:, 0], order.indices[:, 1])
