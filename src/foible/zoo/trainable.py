"""What foible has a training recipe for, by the name the zoo gives the model, and the command that trains it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from foible.domains import Domain, load_domain

TRAINING_RECIPES = Path(__file__).parents[1] / "recipes" / "training"


@dataclass(frozen=True)
class Trainable:
    """A model that foible can train by itself."""

    name: str
    family: str
    domain: str
    recipe: str

    @property
    def role(self) -> str:
        """The registry table it belongs to."""
        return role_of(self.family)

    @property
    def command(self) -> str:
        """What to type."""
        return train_command(self.family, self.domain, self.recipe)


def role_of(family: str) -> str:
    """The registry table that models of a family belong to."""
    return {"classifier": "classifiers", "judge": "validators"}.get(family, "generators")


def train_command(family: str, domain: str, recipe: str | None = None) -> str:
    """The command that trains a model; the recipe is named where it is not the one of domain and family."""
    usual = recipe in (None, f"{domain}-{family}")
    return f"foible train {family} --domain {domain}" + ("" if usual else f" --recipe {recipe}")


def model_name(family: str, domain: Domain, recipe: str | None = None) -> str:
    """What the zoo calls the model of a training recipe: as the recipe, but a domain may name its classifier."""
    usual = f"{domain.name}-{family}"
    stem = Path(recipe).stem if recipe else usual
    return domain.classifier if family == "classifier" and stem == usual and domain.classifier else stem


@cache
def trainable() -> dict[str, Trainable]:
    """Every model that has a training recipe, by name."""
    found = {}
    for path in sorted(TRAINING_RECIPES.glob("*.toml")):
        facts = tomllib.loads(path.read_text())
        name = model_name(facts["family"], load_domain(facts["domain"]), path.stem)
        found[name] = Trainable(name, facts["family"], facts["domain"], path.stem)
    return found
