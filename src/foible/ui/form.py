"""The set-up form as data: from fields to a recipe, from a recipe back to fields, and all that is wrong with it.

The form decides nothing by itself. What is impossible is said by the same code that refuses it in a recipe.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import torch

from foible.campaign.spec import Recipe, load_recipe
from foible.classifiers.adapting.settings import SPOKEN, read_settings, spoken
from foible.errors import FoibleError, RecipeError
from foible.faces import Populous
from foible.protocols import Lanes, Search
from foible.registry import build
from foible.seeding import Streams
from foible.store.export import safe
from foible.types import RIVAL, LatentSpace, Starts
from foible.ui.command import as_table, command_of, diff_command_of
from foible.ui.menu import KEY, MODELS, NUMBERS, ROLES, Menu, PartChoice
from foible.ui.problems import NOBODY, Problem, Wrong, guarded, problems_in, written

OF_FILES = ("upload:", "variant:")  # a rival that has, or may have, the path of an upload in it
LATENT = 8  # numbers of the latents on which a first round is rehearsed


@dataclass(frozen=True)
class SetUp:
    """A filled-in form: its fields, what they hold at first, the recipe they stand for, and what is wrong with them."""

    fields: Mapping[str, str]
    defaults: Mapping[str, str]
    recipe: Recipe | None = None
    problems: tuple[Problem, ...] = field(default=())

    @property
    def facts(self) -> dict[str, Any]:
        """The recipe as it is written to a file; an uploaded classifier by its file name alone."""
        if self.recipe is None:
            return {}
        facts = self.recipe.model_dump(exclude_unset=True, mode="json")
        if self.uploaded:
            facts["classifier"]["use"] = Path(facts["classifier"]["use"]).name
        if RIVAL in facts.get("classifiers", {}) and (self.fields["rival"] or "x").startswith(OF_FILES):
            rival = facts["classifiers"][RIVAL]
            rival["use"] = Path(rival["use"]).name
        return {key: _bare(value) for key, value in facts.items()}

    @property
    def uploaded(self) -> bool:
        """Whether the classifier is a file that this session has sent."""
        return self.fields["classifier"].startswith("upload:")

    @property
    def link(self) -> str:
        """The address that opens this very set-up; an uploaded file belongs to its session and is left out."""
        return "/setup?" + urlencode({k: v for k, v in self.changed.items() if not v.startswith("upload:")})

    @property
    def recipe_link(self) -> str:
        """The address of the recipe file."""
        return "/setup/recipe.toml?" + urlencode(self.changed)

    @property
    def changed(self) -> dict[str, str]:
        """The fields that hold something else than at first; of parts, those of the chosen ones."""
        return {k: v for k, v in self.fields.items() if v != self.defaults[k] and self._matters(k)}

    def _matters(self, key: str) -> bool:
        role, dot, _ = key.partition(".")
        return role not in ROLES or not dot or key.startswith(f"{role}.{self.fields[role]}.")

    @property
    def file_command(self) -> str:
        """The same on the command line, with the recipe saved as a file."""
        name = self.facts.get("name", "NAME")
        return f"foible run {shlex.quote(name)}.toml --out runs/{shlex.quote(name)}"

    @property
    def command(self) -> str:
        """The same on the command line alone."""
        if self.recipe is None:
            return ""
        return diff_command_of(self.facts) if self.fields["rival"] else command_of(self.facts)


def set_up(given: Mapping[str, str], menu: Menu, parts: Mapping[str, Any] | None = None) -> SetUp:
    """Read a form. `parts` are what the recipe says where the fields alone do not say it."""
    fields = {key: given.get(key, default).strip() for key, default in menu.defaults.items()}
    problems = problems_in(fields)
    if problems:
        return SetUp(fields, menu.defaults, None, problems)
    try:
        recipe = _recipe(fields, menu, parts or {})
    except Wrong as wrong:
        return SetUp(fields, menu.defaults, None, (wrong.problem,))
    except FoibleError as error:
        place = next((k for k in (*SPOKEN, *menu.keys) if k.removeprefix(KEY) in error.message), "")
        return SetUp(fields, menu.defaults, None, (Problem(place, error.message, error.hint),))
    return SetUp(fields, menu.defaults, recipe)


def fields_of(recipe: Recipe, menu: Menu) -> dict[str, str]:
    """The form filled in from a recipe, all that it says but its name; refused where it says what the form cannot."""
    said = recipe.model_dump(exclude_unset=True, mode="json")
    whole = recipe.resolved()
    fields = {name: str(_at(whole, key)) for name, key in NUMBERS.items()}
    fields |= {key: parameter.write(_at(said, key.removeprefix(KEY))) for key, parameter in menu.keys.items()}
    fields |= {"domain": recipe.domain, "generator": recipe.generator.use, "classifier": recipe.classifier.use}
    fields |= {**spoken(recipe.classifier.parameters), "data": recipe.data or ""}
    fields |= {"classifiers": ", ".join(f"{role} = {part.use}" for role, part in recipe.classifiers.items())}
    if recipe.validators is not None:
        fields["validators"] = ", ".join(part.use for part in recipe.validators) or NOBODY
    for role in ROLES:
        if role in said and said[role] != {"use": Recipe.model_fields["search"].default.use}:
            fields |= _fields_of_part(menu, role, getattr(recipe, role))
    again = set_up(fields, menu)
    if again.recipe is None or again.recipe.resolved() | {"name": ""} != _plain(whole, menu) | {"name": ""}:
        raise RecipeError(f"recipe '{recipe.name}' says what the form cannot", "run it from its file: foible run")
    return fields


def _recipe(fields: Mapping[str, str], menu: Menu, parts: Mapping[str, Any]) -> Recipe:
    facts: dict[str, Any] = dict(parts.get("asked", {}))
    facts["name"] = fields["name"] or _name(fields, parts)
    for name, key in NUMBERS.items():
        _put(facts, key, int(fields[name]))
    for key, parameter in menu.keys.items():
        if fields[key]:
            _put(facts, key.removeprefix(KEY), written(key, parameter, fields[key]))
    chosen = {role: choice for role in ROLES if (choice := _chosen(fields, menu, role))}
    facts |= {role: {"use": choice.use, **_parameters(fields, choice)} for role, choice in chosen.items()}
    facts |= guarded(fields)
    if RIVAL in parts:
        facts["classifiers"] = {**facts.get("classifiers", {}), RIVAL: parts[RIVAL]}
    recipe = load_recipe(facts | _models(fields, parts))
    built = {role: _built(fields, choice, facts[role]) for role, choice in chosen.items()}
    first = first_round(built["search"]) if "search" in built else 0
    if recipe.budget.evaluations < first:
        message = f"the first round alone asks for {first} evaluations, the budget is {recipe.budget.evaluations}"
        raise Wrong("evaluations", message, "raise it, or let the search ask for less at a time")
    return recipe


def _name(fields: Mapping[str, str], parts: Mapping[str, Any]) -> str:
    """What a run is called where nobody says: by its model and its question."""
    model = as_table(parts.get("classifier", fields["classifier"]))["use"]
    return safe(f"{Path(str(model).rstrip('/')).stem or 'run'}-{fields['question']}")[-80:].strip("-._") or "run"


def first_round(search: Search) -> int:
    """How many candidates a search asks for at first, on latents of no importance; 0 where it will not say."""
    count = search.starts if isinstance(search, Populous) else 1
    labels, wide = torch.zeros(1, count, dtype=torch.long), torch.ones(LATENT)
    starts = Starts(torch.zeros(1, dtype=torch.long), torch.zeros(1, count, LATENT), labels, labels - 1)
    lanes = Lanes(starts, LatentSpace((LATENT,), -wide, wide, wide), Streams(0))
    try:
        return len(search.ask(search.begin(lanes), lanes).lanes)
    except Exception:  # it may want latents of another shape: the check before the run will tell
        return 0


def _chosen(fields: Mapping[str, str], menu: Menu, role: str) -> PartChoice | None:
    """The part that is chosen; None where that is left open."""
    choice = menu.choice(role, fields[role])
    if choice is None and fields[role]:
        raise Wrong(role, f"no {role} is called '{fields[role][:80]}'", "pick one of the list")
    return choice


def _parameters(fields: Mapping[str, str], choice: PartChoice) -> dict[str, Any]:
    """What the recipe says of a part: whatever is not its default."""
    values = ((p, written(name, p, fields[name])) for name, p in choice.fields())
    return {p.name: value for p, value in values if not _same(value, p.default) or p.required}


def _built(fields: Mapping[str, str], choice: PartChoice, table: Mapping[str, Any]) -> Any:
    """The part itself: what it refuses is said at the field that it speaks of, the one that was changed first of all."""
    try:
        return build(ROLES[choice.role], choice.use, {k: v for k, v in table.items() if k != "use"})
    except FoibleError as error:
        named = [(n, p) for n, p in choice.fields() if re.search(rf"\b{p.name}\b", error.message)]
        changed = [name for name, p in named if fields[name] != p.write(p.default)]
        place = next(iter([*changed, *(name for name, _ in named)]), choice.role)
        raise Wrong(place, error.message, error.hint) from error


def _fields_of_part(menu: Menu, role: str, part: Any) -> dict[str, str]:
    choice = menu.choice_of(role, part.use)
    if choice is None:
        raise RecipeError(f"{role} '{part.use}' is not on the list", "name it when the workbench is opened")
    values = {f"{role}.{choice.name}.{k}": choice.about.parameter(k).write(v) for k, v in part.parameters.items()}
    return {role: choice.name, **values}


def _plain(whole: Mapping[str, Any], menu: Menu) -> dict[str, Any]:
    """A resolved recipe without what is the default of a part anyway."""
    plain = dict(whole)
    for role in ROLES:
        choice = menu.choice_of(role, whole[role]["use"])
        usual = {p.name: p.default for p in choice.about.parameters} if choice else {}
        plain[role] = {k: v for k, v in whole[role].items() if k == "use" or k not in usual or not _same(usual[k], v)}
    return plain


def _same(first: Any, second: Any) -> bool:
    """Whether two values are written alike: a recipe has lists where a part has tuples."""
    plain = [list(value) if isinstance(value, tuple) else value for value in (first, second)]
    return bool(plain[0] == plain[1])


def _models(fields: Mapping[str, str], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Domain, generator and classifier, this one with all that is said of it."""
    models = {key: parts.get(key, fields[key]) for key in MODELS}
    said = read_settings({key: fields[key] for key in SPOKEN})
    if said:
        models["classifier"] = as_table(models["classifier"]) | said
    return models


def _put(facts: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    for step in path:
        facts = facts.setdefault(step, {})
    facts[last] = value


def _at(facts: Mapping[str, Any], key: str) -> Any:
    for step in key.split("."):
        facts = facts.get(step) if isinstance(facts, Mapping) else None  # type: ignore[assignment]
    return facts


def _bare(value: Any) -> Any:
    """A part with no parameters by its name alone."""
    if isinstance(value, list):
        return [_bare(part) for part in value]
    return value["use"] if isinstance(value, dict) and set(value) == {"use"} else value
