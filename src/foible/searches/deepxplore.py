"""DeepXplore: drive several classifiers apart and, on the way, their units to where no image has had them.

Pei, Cao, Yang and Jana, SOSP 2017; the program is peikexin9/deepxplore.

    paper                           here
    sum_i!=j F_i[c] - l1 F_j[c]     first column of the objective `covering`, pull "apart"; j is the tested classifier
    l2 sum_i f_n(x)                 its second column: any criterion's own objective, or chooses = "published"
    s, gradient ascent              `step`, `steps`
    light, occlusion, blackout      `constraint`

1. An origin on which all agree. 2. Steps (`joint.py`) until any two disagree (oracle `disagree`): that ends the search.
3. The failure's coverage is merged into that of the run at the end of a wave; wave = 1 is the published rule.

Differs from the original in: images stay inside a ball and in [0, 1] at every step (published, they are cut only when saved, so that
a saved file need not fail); gradients are normalised one by one; the aim is chosen anew once it is met; failures are confirmed
after rounding; logits for all models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foible.searches.joint import Joint

PARTNERS = ("rival", "another")


@dataclass(frozen=True)
class DeepXplore(Joint):
    """Drive classifiers apart, and units to where no image has had them.

    Args:
        weight: lambda2, of coverage against disagreement; 0: the control.
        lambda1: of the tested classifier against each of the others; published 1, with which the others, being more, win.
        criterion: the coverage that guides: foible ls coverage.
        chooses: which of its obligations: "cheapest", "random", "rarest", or units as "published".
        partners: the roles of the classifiers that it is driven away from.
    """

    lambda1: float = 3.0
    criterion: str = "nc"
    chooses: str = "cheapest"
    partners: tuple[str, ...] = PARTNERS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "partners", tuple(self.partners))

    def suggests(self, others: Sequence[str]) -> Mapping[str, Any]:
        """A disagreement of any two ends a search; installed classifiers are the partners where none are named."""
        objective = {
            "use": "covering",
            "pull": "apart",
            "lambda1": self.lambda1,
            "criterion": self.criterion,
            "chooses": self.chooses,
            "others": list(self.partners),
            "remembers": "failures",
        }
        said: dict[str, Any] = {
            "objective": objective,
            "oracle": {"use": "disagree", "among": ["tested", *self.partners]},
        }
        if len(others) >= len(self.partners):
            said["classifiers"] = dict(zip(self.partners, others, strict=False))
        return said
