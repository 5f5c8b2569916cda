"""From a recipe to live parts."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from foible.campaign.roles import make_role, refuse_unfit_roles, with_derived
from foible.campaign.spec import Part, Recipe, load_recipe
from foible.classifiers.adapted import AdaptedClassifier
from foible.digest import weights_digest
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.domains.made import MadeImages
from foible.errors import DataError, ModelError, RecipeError, did_you_mean
from foible.protocols import (
    Classifier,
    Digested,
    Generator,
    Movable,
    Objective,
    Oracle,
    Role,
    Search,
    Suggests,
    Validator,
    prefers_real,
)
from foible.registry import build, find, singular
from foible.seeding import Streams
from foible.types import TESTED, Arm, Budget
from foible.validators.fitted import judge_is_there
from foible.zoo import resolve


@dataclass(frozen=True)
class Campaign:
    """The experiment as a value: the parts of a recipe, ready to run."""

    recipe: Recipe
    domain: Domain
    data: RealImages
    generator: Generator
    roles: Mapping[str, Role]
    objective: Objective
    oracle: Oracle
    validators: tuple[Validator, ...]
    searches: dict[Arm, Search]
    attempts: dict[Arm, int]
    budget: Budget
    streams: Streams
    digests: dict[str, str]
    device: torch.device

    @property
    def classifier(self) -> Classifier:
        """The one under test."""
        return self.roles[TESTED].classifier

    @property
    def rank(self) -> int:
        """The column by which the best failure of an attempt is chosen."""
        return self.objective.names.index(self.recipe.rank) if self.recipe.rank else 0


def assemble(
    recipe: Recipe,
    generator: Generator | None = None,
    classifier: Classifier | nn.Module | None = None,
    classifiers: Mapping[str, Classifier | nn.Module] | None = None,
) -> Campaign:
    """Load and build everything a recipe names; live objects take the place of what it says.

    Args:
        recipe: the campaign as data.
        generator: used instead of the recipe's generator.
        classifier: used instead of the recipe's classifier; a bare torch module gives logits in the domain's class order.
        classifiers: the same for other roles, by name.
    """
    domain = load_domain(recipe.domain)
    search = build("searches", recipe.search.use, recipe.search.parameters)
    recipe = _with_judge(_with_suggestions(recipe, search), domain)
    maker, generator_digests = _model("generators", recipe.generator, generator)
    data = _data(recipe, domain, maker)
    roles, digests = _roles(
        recipe, domain, data, {**(classifiers or {}), **({TESTED: classifier} if classifier else {})}
    )
    device = _device(recipe.engine.device)
    for model in (maker, *(role.classifier for role in roles.values())):
        if isinstance(model, Movable):
            model.to(device)
    validators = tuple(make_validator(v, domain, data) for v in recipe.validators or ())
    _independent(roles[TESTED].classifier, digests, validators)
    objective = build("objectives", recipe.objective.use, recipe.objective.parameters)
    oracle = build("oracles", recipe.oracle.use, recipe.oracle.parameters)
    roles = with_derived(roles, objective)
    refuse_unfit_roles(roles, objective, oracle, search)
    _refuse_unknown_rank(recipe, objective)
    searches, attempts = {Arm.SEARCH: search}, {Arm.SEARCH: recipe.attempts}
    if recipe.baseline.attempts:
        searches[Arm.BASELINE] = build("searches", recipe.baseline.use, _baseline_parameters(recipe, search))
        attempts[Arm.BASELINE] = min(recipe.attempts, recipe.baseline.attempts)
    return Campaign(
        recipe=recipe,
        domain=domain,
        data=data,
        generator=maker,
        roles=roles,
        objective=objective,
        oracle=oracle,
        validators=validators,
        searches=searches,
        attempts=attempts,
        budget=Budget(recipe.budget.evaluations, recipe.budget.seconds),
        streams=Streams(recipe.seed),
        digests=generator_digests | digests | _digests(validators),
        device=device,
    )


def _data(recipe: Recipe, domain: Domain, maker: Generator) -> RealImages:
    """Real images; where there are none, and searches start from samples, those that the generator makes."""
    try:
        return real_images(domain, recipe.data, "test")
    except DataError:
        if recipe.data is not None or recipe.origins == "real" or (recipe.origins == "auto" and prefers_real(maker)):
            raise
    return MadeImages(
        maker.name, lambda labels, rng: maker.decode(maker.sample(labels, rng), labels), len(domain.classes)
    )


def _with_suggestions(recipe: Recipe, search: Search) -> Recipe:
    """The recipe with what its search suggests where it is silent."""
    if not isinstance(search, Suggests):
        return recipe
    changes = {k: v for k, v in search.suggests().items() if k not in recipe.model_fields_set}
    return load_recipe(recipe, changes)


def _roles(
    recipe: Recipe, domain: Domain, data: RealImages, live: Mapping[str, Classifier | nn.Module]
) -> tuple[dict[str, Role], dict[str, str]]:
    """The classifiers of a recipe by role, and the digests of what they were made from."""
    parts = {TESTED: recipe.classifier, **recipe.classifiers}
    roles: dict[str, Role] = {}
    digests: dict[str, str] = {}
    for name in {**parts, **live}:
        given = live.get(name)
        if isinstance(given, nn.Module):
            given = AdaptedClassifier(type(given).__name__, given, domain.classes)
        model, made_from = _model("classifiers", parts.get(name), given, domain, data)
        roles[name] = make_role(name, model)
        digests |= made_from
    return roles, digests


def _model(
    heading: str, part: Part | None, live: Any, domain: Domain | None = None, data: RealImages | None = None
) -> tuple[Any, dict[str, str]]:
    if live is not None and isinstance(live, Digested) and live.digests:
        return live, dict(live.digests)
    if live is not None:
        return live, {f"{singular(heading)} object {getattr(live, 'name', type(live).__name__)}": weights_digest(live)}
    assert part is not None
    resolved = resolve(heading, part.use, part.parameters, domain, data)
    return resolved.model, resolved.digests


def _with_judge(recipe: Recipe, domain: Domain) -> Recipe:
    """The recipe with its validators written out: the domain's judge, if it is installed and the recipe says nothing."""
    if recipe.validators is None:
        judge = (Part(use="judge"),) if judge_is_there(domain) else ()
        recipe = recipe.model_copy(update={"validators": judge})
    if recipe.steers and not recipe.validators:
        raise RecipeError(
            "steers = true needs validators to say what counts, and there are none",
            'add validators = ["judge"], or pick a domain that has a judge: foible ls zoo',
        )
    return recipe


def make_validator(part: Part, domain: Domain, data: RealImages) -> Validator:
    """A validator; it is given the domain and real images where it asks for them."""
    offered = {"domain": domain, "data": data}
    wanted = inspect.signature(find("validators", part.use)).parameters
    given = {name: value for name, value in offered.items() if name in wanted}
    validator: Validator = build("validators", part.use, given | part.parameters)
    return validator


def _digests(validators: tuple[Validator, ...]) -> dict[str, str]:
    return {file: digest for v in validators if isinstance(v, Digested) for file, digest in v.digests.items()}


def _independent(classifier: Classifier, digests: dict[str, str], validators: tuple[Validator, ...]) -> None:
    """A classifier may not be its own judge."""
    shared = set(digests.values()) & set(_digests(validators).values())
    if shared:
        raise RecipeError(
            f"classifier '{classifier.name}' is one of the judge's reference classifiers",
            "test another classifier, or leave the judge out: validators = []",
        )


def _baseline_parameters(recipe: Recipe, search: Search) -> dict[str, Any]:
    """The baseline may go as far as the search it stands beside: settings of the same name are shared.

    What the recipe says of the baseline itself comes first.
    """
    if recipe.baseline.use == recipe.search.use:
        return recipe.search.parameters | recipe.baseline.parameters
    own = inspect.signature(find("searches", recipe.baseline.use)).parameters
    shared = {name: getattr(search, name) for name in own if hasattr(search, name)}
    return shared | recipe.baseline.parameters


def _refuse_unknown_rank(recipe: Recipe, objective: Objective) -> None:
    if recipe.rank is not None and recipe.rank not in objective.names:
        raise RecipeError(
            f"rank = '{recipe.rank}' is no column of the objective '{recipe.objective.use}'",
            did_you_mean(recipe.rank, objective.names),
        )


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise (RecipeError if "Expected one of" in str(error) else ModelError)(
            f"device '{name}' cannot be used: {str(error).splitlines()[0]}",
            'use device = "cpu", or one that torch sees here',
        ) from error
    return device
