"""Any image that is not its origin: for searches that are after something else than mistakes, such as a wanted surprise.

Together with `ends = "never"` and `keeps = "best"` a run then keeps, for every origin, the image whose rank is lowest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from foible.types import TESTED, Evaluation


@dataclass(frozen=True)
class Moved:
    """The candidate differs from the origin; what the classifier says of it does not matter."""

    reads: ClassVar[tuple[str, ...]] = (TESTED,)
    expects: ClassVar[bool] = False
    indifferent: ClassVar[bool] = True  # to what is right and wrong

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """True per candidate (N,) that is elsewhere than its origin."""
        return (evaluation.latents.detach() != evaluation.origins).flatten(1).any(1)
