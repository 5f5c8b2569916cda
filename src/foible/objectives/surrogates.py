"""Surrogates as one: other classifiers of the same classes, whose gradients stand in for the tested one's, or show where it fails alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from foible.classifiers.variations import SEARCHED, Varied
from foible.errors import RecipeError
from foible.protocols import Classifier, Role
from foible.types import Capability, Images

SURROGATES = "surrogates"
MOST = 3  # of those that are installed, the most accurate first


def as_surrogates(others: Sequence[str]) -> dict[str, Any]:
    """What a search suggests to a recipe that names no surrogates: some of the other classifiers of the domain."""
    names = {f"surrogate{k}": name for k, name in enumerate(others[:MOST])}
    return {"classifiers": names} if names else {}


def together(roles: Mapping[str, Role], variations: int = 0) -> Role:
    """All free roles that lend gradients as one that is not counted, each also looking through so many variations."""
    lending = [role for role in roles.values() if role.free and role.lends]
    if not lending:
        raise RecipeError(
            "there is no surrogate whose gradients could show the way",
            'name one or more: [classifiers] surrogate = "..."; any PyTorch model of the same classes will do',
        )
    looks = [*lending, *(through_variations(role, variations) for role in lending if variations)]
    return Role(Together([role.classifier for role in looks]), free=True, cost=0)


def through_variations(role: Role, count: int) -> Role:
    """A role that looks at so many variations of each image, at that price."""
    looks = list(SEARCHED.values())[:count]
    return role._replace(classifier=Varied(role.classifier, looks), cost=count * role.cost)


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
