"""What a recipe leaves out, written in: its search and what that suggests, what its generator advises, what a failure is, who judges."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from foible.campaign.roles import SURROGATE, MadeRole
from foible.campaign.spec import Part, Recipe, load_recipe
from foible.domains import Domain
from foible.errors import RecipeError
from foible.faces import Advises, Suggests
from foible.protocols import Generator, Search
from foible.registry import find
from foible.validators.fitted import judge_is_there
from foible.zoo import entries


def with_search(recipe: Recipe, tested: MadeRole, live: Iterable[str], domain: Domain) -> Recipe:
    """The recipe with a search chosen where it leaves the choice: gradients are worth most, then those of others."""
    if recipe.search.use != "auto":
        return recipe
    surrogates = _named_surrogates(recipe, live) or others_of(recipe, domain, tested)
    use = "descent" if tested.role.lends else "transfer" if surrogates else "genetic"
    return recipe.model_copy(update={"search": Part(use=use, **recipe.search.parameters)})


def with_advice(recipe: Recipe, maker: Generator) -> Recipe:
    """The recipe with what its generator knows of the search in its latent space, where it is silent."""
    advice = maker.advises.get(recipe.search.use, {}) if isinstance(maker, Advises) else {}
    parameters = {**advice, **recipe.search.parameters}
    return recipe.model_copy(update={"search": Part(use=recipe.search.use, **parameters)})


def kept_by(recipe: Recipe) -> dict[str, Any]:
    """What the recipe keeps, for a search that goes about it differently."""
    takes = inspect.signature(find("searches", recipe.search.use)).parameters
    if "keeps" not in takes or "keeps" not in recipe.model_fields_set:
        return {}
    said = recipe.search.parameters.get("keeps", recipe.keeps)
    if said != recipe.keeps:
        raise RecipeError(f"keeps is '{recipe.keeps}', and search.keeps is '{said}'", "leave out one of them")
    return {"keeps": recipe.keeps}


def with_suggestions(recipe: Recipe, search: Search, tested: MadeRole, live: Iterable[str], domain: Domain) -> Recipe:
    """The recipe with what its search suggests where it is silent."""
    if not isinstance(search, Suggests):
        return recipe
    suggested = search.suggests(others_of(recipe, domain, tested))
    if _named_surrogates(recipe, live):
        suggested = {k: v for k, v in suggested.items() if k != "classifiers"}
    changes = {k: v for k, v in suggested.items() if k not in recipe.model_fields_set}
    return _with_the_rest(load_recipe(recipe, changes), suggested.get("objective"))


def _with_the_rest(recipe: Recipe, suggested: Mapping[str, Any] | str | None) -> Recipe:
    """The recipe with what was suggested of the objective that it names itself, where it does not say otherwise."""
    said = recipe.objective
    if not isinstance(suggested, Mapping) or suggested["use"] != said.use:
        return recipe
    return recipe.model_copy(update={"objective": Part(**{**suggested, **said.parameters})})


def _named_surrogates(recipe: Recipe, live: Iterable[str]) -> list[str]:
    return [name for name in (*recipe.classifiers, *live) if name.startswith(SURROGATE)]


def others_of(recipe: Recipe, domain: Domain, tested: MadeRole) -> list[str]:
    """Installed classifiers of the domain that are neither tested, under any name, nor the judge's, the most accurate first."""
    apart, own = {recipe.classifier.use, *domain.references}, set(tested.digests.values())
    fitting = [e for e in entries().values() if e.role == "classifiers" and e.domain == domain.name]
    ranked = sorted(fitting, key=lambda e: -e.figures.get("test_accuracy", 0.0))
    return [e.name for e in ranked if e.name not in apart and e.sha256 not in own]


def with_aim(recipe: Recipe) -> Recipe:
    """A recipe that aims at classes means failures that end there, unless it says what a failure is."""
    if not recipe.targets or "oracle" in recipe.model_fields_set:
        return recipe
    return recipe.model_copy(update={"oracle": Part(use="targeted")})


def with_judge(recipe: Recipe, domain: Domain) -> Recipe:
    """The recipe with its validators written out: the domain's judge, if it is installed and the recipe says nothing.

    Where there are none, nobody judges origins either, and the recipe says so.
    """
    if recipe.validators is None:
        judge = (Part(use="judge"),) if judge_is_there(domain) else ()
        recipe = recipe.model_copy(update={"validators": judge})
    if recipe.steers and not recipe.validators:
        raise RecipeError(
            "steers = true needs validators to say what counts, and there are none",
            'add validators = ["judge"], or pick a domain that has a judge: foible ls zoo',
        )
    if recipe.validators or recipe.origins == "any":
        return recipe
    if "origins" in recipe.model_fields_set:
        raise RecipeError(
            'origins = "judged" needs validators, and there are none',
            'add validators = ["judge"], or write origins = "any"',
        )
    return recipe.model_copy(update={"origins": "any"})
