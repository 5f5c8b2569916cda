"""Who is asked: the tested classifier, those named beside it, and what the objective makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from foible.errors import RecipeError, did_you_mean
from foible.faces import Derives, Guided, Inspectable
from foible.protocols import Classifier, Objective, Oracle, Role, Search
from foible.types import Capability

SURROGATE = "surrogate"  # roles whose names begin so stand in for the tested one: their calls are not counted


class MadeRole(NamedTuple):
    """A role, and the digests of what its classifier was made from."""

    role: Role
    digests: dict[str, str]


def make_role(name: str, classifier: Classifier) -> Role:
    """A classifier in the role of this name."""
    return Role(classifier, free=name.startswith(SURROGATE), lends=Capability.GRADIENT in classifier.offers)


def with_derived(roles: Mapping[str, Role], objective: Objective) -> dict[str, Role]:
    """The recipe's roles and those that the objective makes of them."""
    return {**roles, **(objective.derive(roles) if isinstance(objective, Derives) else {})}


def refuse_unfit_roles(roles: Mapping[str, Role], objective: Objective, oracle: Oracle, search: Search) -> None:
    """Name what objective, oracle or search need of a role and do not get."""
    for part, wanted in (("objective", tuple(objective.reads)), ("oracle", oracle.reads)):
        for role in wanted:
            if role not in roles:
                raise RecipeError(
                    f"the {part} reads the role '{role}', and the recipe names no classifier for it",
                    f'add a table [classifiers] with {role} = "..."; {did_you_mean(role, roles)}',
                )
    for role, layers in objective.reads.items():
        classifier = roles[role].classifier
        if layers and not (isinstance(classifier, Inspectable) and Capability.ACTIVATIONS in classifier.offers):
            raise RecipeError(
                f"the objective reads layers of '{classifier.name}', which shows no activations",
                "use a PyTorch module or weights of a known network; ONNX files and endpoints keep theirs to themselves",
            )
    if isinstance(search, Guided) and search.follows and not any(roles[r].lends for r in objective.reads):
        asked = ", ".join(f"'{roles[r].classifier.name}'" for r in objective.reads)
        raise RecipeError(
            f"the search follows gradients, and {asked} lends none",
            'test a PyTorch module, or name a surrogate that lends its own: [classifiers] surrogate = "..."',
        )
