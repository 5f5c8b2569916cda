"""What a form can set besides its models: searches, objectives and oracles with their parameters, and keys of the recipe.

All of it is derived from the components and from the recipe's model. A field is called by its key in the recipe; that of a
component's parameter also has the component's name in it, so that each keeps its own: `search.genetic.population`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from foible.campaign.spec import Recipe, load_recipe
from foible.classifiers.adapting.settings import SPOKEN
from foible.errors import FoibleError, RecipeError
from foible.faces import Suggests
from foible.parameters import Component, Kind, Parameter, component, components, model_parameters
from foible.registry import build, names_a_file
from foible.ui.questions import FAILURES, answered_by

ROLES = {"search": "searches", "objective": "objectives", "oracle": "oracles"}
MODELS = ("domain", "generator", "classifier")  # chosen from lists of their own
NUMBERS = {"attempts": "attempts", "evaluations": "budget.evaluations", "baseline": "baseline.attempts", "seed": "seed"}
GUARDED = ("data", "validators", "classifiers")  # a browser may name only what is known here
FIRST = "demo"  # the recipe whose images the form shows at first
KEY = "recipe."  # before the keys of the recipe that have a field of their own


@dataclass(frozen=True)
class PartChoice:
    """A search, objective or oracle on the list: its name there, what a recipe says for it, and what can be set about it."""

    role: str
    name: str
    use: str
    about: Component
    suggests: str = ""
    answers: str = FAILURES.key  # the question that a search is for

    def fields(self) -> Iterator[tuple[str, Parameter]]:
        """The names of its fields in a form."""
        return ((f"{self.role}.{self.name}.{p.name}", p) for p in self.about.parameters)


@dataclass(frozen=True)
class Menu:
    """Everything that the form can set besides its models."""

    parts: Mapping[str, tuple[PartChoice, ...]]

    def choice(self, role: str, name: str) -> PartChoice | None:
        """The part of this name."""
        return next((c for c in self.parts[role] if c.name == name), None)

    def methods(self, question: str, its_own: bool) -> list[PartChoice]:
        """The searches that are for a question, or those that are for others."""
        return [c for c in self.parts["search"] if (c.answers == question) is its_own]

    def choice_of(self, role: str, use: str) -> PartChoice | None:
        """The part that a recipe calls so."""
        return next((c for c in self.parts[role] if c.use == use), None)

    @property
    def notes(self) -> dict[str, str]:
        """What each kind of part is for, as the recipe's model says it."""
        return {role: Recipe.model_fields[role].description or "" for role in ROLES}

    @cached_property
    def keys(self) -> dict[str, Parameter]:
        """The other keys of a recipe by the names of their fields; left empty, the recipe is silent."""
        handled = {"name", *MODELS, *NUMBERS.values(), *GUARDED, *ROLES}
        found = {key: p for key, _, p in model_parameters(Recipe) if p is not None and key not in handled}
        searches = tuple(c.use for c in self.parts["search"])
        found["baseline.use"] = replace(found["baseline.use"], kind=Kind.CHOICE, choices=searches)
        return {f"{KEY}{key}": replace(p, name=key.replace(".", " ")) for key, p in found.items()}

    @cached_property
    def defaults(self) -> dict[str, str]:
        """Every field of the form, and what it holds at first."""
        usual = {key: field for key, field, _ in model_parameters(Recipe)}
        return {
            "question": FAILURES.key,
            "name": "",
            **dict.fromkeys(MODELS, ""),
            "rival": "",
            "domain": load_recipe(FIRST).domain,
            "address": "",
            **{name: str(usual[key].default) for name, key in NUMBERS.items()},
            **dict.fromkeys(ROLES, ""),
            **{name: p.write(p.default) for listed in self.parts.values() for c in listed for name, p in c.fields()},
            **dict.fromkeys((*GUARDED, *self.keys), ""),
            **dict.fromkeys(SPOKEN, ""),
        }


def make_menu(own: Mapping[str, Sequence[str]] | None = None) -> Menu:
    """The menu of this installation, with components in files of the user's own, by role, on top."""
    parts = {}
    for role, heading in ROLES.items():
        listed = [_own_part(role, heading, name) for name in (own or {}).get(role, ())]
        listed += [_choice(role, c.name, c.name, c) for c in components(heading) if not c.broken]
        names = [choice.name for choice in listed]
        for name in names:
            if names.count(name) > 1:
                raise RecipeError(f"two of the {heading} are called '{name}'", "rename one of them")
        parts[role] = tuple(listed)
    return Menu(parts)


def _own_part(role: str, heading: str, name: str) -> PartChoice:
    about = component(heading, name)
    if not names_a_file(name):
        raise RecipeError(f"'{name}' is on the list already", "name a component in a file: file.py:Name")
    path, _, attribute = name.rpartition(":")
    return _choice(role, attribute, f"{Path(path).resolve()}:{attribute}", about)


def _choice(role: str, name: str, use: str, about: Component) -> PartChoice:
    """A part, with what it suggests for the rest of the recipe."""
    try:
        part: Any = None if any(p.required for p in about.parameters) else build(ROLES[role], use, {})
    except FoibleError:
        part = None
    said = part.suggests(()) if isinstance(part, Suggests) else {}
    words = ", ".join(f"{k} = {_short(v)}" for k, v in said.items() if v)
    return PartChoice(role, name, use, about, words, answered_by(said))


def _short(value: Any) -> str:
    return str(value["use"]) if isinstance(value, Mapping) and "use" in value else str(value)
