"""The set-up form as data: from fields to a recipe, from a recipe back to fields, and all that is wrong with it.

The form decides nothing by itself. What is impossible is said by the same code that refuses it in a recipe.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from foible.campaign.spec import Recipe, load_recipe
from foible.classifiers.adapting.settings import SPOKEN, read_settings, spoken
from foible.errors import FoibleError, RecipeError
from foible.registry import build
from foible.searches.extent import EXTENTS
from foible.store.export import safe
from foible.ui.command import as_table, command_of
from foible.ui.problems import Problem, problems_in

DEFAULTS = {
    "name": "",
    "domain": "mnist",
    "generator": "",
    "classifier": "",
    "reference": "",
    "search": "genetic",
    "attempts": "100",
    "population": "25",
    "survivors": "10",
    "evaluations": "3760",
    "extent": "high",
    "fraction": "0.002",
    "seed": "0",
    "baseline": "20",
    "published": "",
    **dict.fromkeys(SPOKEN, ""),
}


@dataclass(frozen=True)
class SetUp:
    """A filled-in form: its fields, the recipe they stand for, and what is wrong with them."""

    fields: Mapping[str, str]
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
        return facts | {k: facts[k]["use"] for k in ("generator", "classifier") if set(facts[k]) == {"use"}}

    @property
    def uploaded(self) -> bool:
        """Whether the classifier is a file that this session has sent."""
        return self.fields["classifier"].startswith("upload:")

    @property
    def link(self) -> str:
        """The address that opens this very set-up; an uploaded file belongs to its session and is left out."""
        return "/setup?" + urlencode({k: v for k, v in self._changed.items() if not v.startswith("upload:")})

    @property
    def recipe_link(self) -> str:
        """The address of the recipe file."""
        return "/setup/recipe.toml?" + urlencode(self._changed)

    @property
    def _changed(self) -> dict[str, str]:
        return {k: v for k, v in self.fields.items() if v != DEFAULTS[k]}

    @property
    def file_command(self) -> str:
        """The same on the command line, with the recipe saved as a file."""
        name = self.facts.get("name", "NAME")
        return f"foible run {shlex.quote(name)}.toml --out runs/{shlex.quote(name)}"

    @property
    def command(self) -> str:
        """The same on the command line alone."""
        return command_of(self.facts) if self.recipe else ""


def set_up(given: Mapping[str, str], parts: Mapping[str, Any] | None = None) -> SetUp:
    """Read a form. `parts` are what the recipe says where the fields alone do not say it."""
    fields = {key: given.get(key, default).strip() for key, default in DEFAULTS.items()}
    problems = problems_in(fields)
    if problems:
        return SetUp(fields, None, problems)
    try:
        recipe = load_recipe(_facts(fields) | _models(fields, parts or {}))
        build("searches", recipe.search.use, recipe.search.parameters)
    except FoibleError as error:
        place = next((k for k in ("extent", "survivors", *SPOKEN) if k in error.message), "")
        return SetUp(fields, None, (Problem(place, error.message, error.hint),))
    first = int(fields["population"]) if fields["search"] == "genetic" else 25
    if recipe.budget.evaluations < first:
        message = f"the first round alone asks for {first} evaluations, the budget is {recipe.budget.evaluations}"
        return SetUp(fields, None, (Problem("evaluations", message, "raise it or make the population smaller"),))
    return SetUp(fields, recipe)


def fields_of(recipe: Recipe) -> dict[str, str]:
    """The form filled in from a recipe."""
    search, extent = recipe.search.parameters, recipe.search.parameters.get("extent", "high")
    named = extent in EXTENTS
    return {
        "domain": recipe.domain,
        "generator": recipe.generator.use,
        "classifier": recipe.classifier.use,
        "search": recipe.search.use,
        "attempts": str(recipe.attempts),
        "population": str(search.get("population", 25)),
        "survivors": str(search.get("survivors", 10)),
        "evaluations": str(recipe.budget.evaluations),
        "extent": str(extent) if named else "custom",
        "fraction": DEFAULTS["fraction"] if named else str(extent),
        "seed": str(recipe.seed),
        "baseline": str(recipe.baseline.attempts),
        "published": "yes" if search.get("compat") else "",
        **spoken(recipe.classifier.parameters),
    }


def _models(fields: Mapping[str, str], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Domain, generator and classifier, this one with all that is said of it."""
    models = {key: parts.get(key, fields[key]) for key in ("domain", "generator", "classifier")}
    said = read_settings({key: fields[key] for key in SPOKEN})
    if said:
        models["classifier"] = as_table(models["classifier"]) | said
    return models


def _facts(fields: Mapping[str, str]) -> dict[str, Any]:
    search: dict[str, Any] = {"use": fields["search"], "extent": _extent(fields)}
    if fields["search"] == "genetic":
        search |= {"population": int(fields["population"]), "survivors": int(fields["survivors"])}
        search |= {"compat": True} if fields["published"] else {}
    facts = {
        "name": fields["name"] or safe(f"{fields['generator']}-{fields['extent']}"),
        "attempts": int(fields["attempts"]),
        "seed": int(fields["seed"]),
        "search": search,
        "budget": {"evaluations": int(fields["evaluations"])},
        "baseline": {"use": "random", "attempts": int(fields["baseline"])},
    }
    return facts | ({"ends": "first"} if fields["published"] else {})


def _extent(fields: Mapping[str, str]) -> str | float:
    if fields["extent"] != "custom":
        return fields["extent"]
    try:
        return float(fields["fraction"])
    except ValueError:
        raise RecipeError(
            f"extent '{fields['fraction'][:20]}' is not a number", "write a fraction of the latent range, such as 0.002"
        ) from None
