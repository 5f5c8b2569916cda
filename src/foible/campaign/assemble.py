"""From a recipe to live parts."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from foible.campaign.complete import kept_by, with_advice, with_aim, with_judge, with_search, with_suggestions
from foible.campaign.roles import MadeRole, make_role, refuse_unfit_roles, with_derived
from foible.campaign.spec import Part, Recipe
from foible.classifiers.adapted import AdaptedClassifier
from foible.digest import weights_digest
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.domains.made import MadeImages
from foible.errors import DataError, ModelError, RecipeError, did_you_mean
from foible.faces import Digested, Movable, prefers_real
from foible.parameters import Kind, parameters_of
from foible.protocols import Classifier, Generator, Objective, Oracle, Role, Search, Validator
from foible.registry import build, find, singular
from foible.seeding import Streams
from foible.types import TESTED, Arm, Budget
from foible.zoo import resolve

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Given:
    """Live objects that took the place of what a recipe says."""

    generator: Generator | None = None
    classifiers: Mapping[str, Classifier | nn.Module] = field(default_factory=dict)


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
    given: Given = field(default_factory=Given)

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
    log.info("loading the models")
    maker, generator_digests = _model("generators", recipe.generator, generator, domain)
    data = _data(recipe, domain, maker)
    live = {**(classifiers or {}), **({TESTED: classifier} if classifier is not None else {})}
    tested = _role(TESTED, recipe.classifier, live.get(TESTED), domain, data)
    recipe = with_advice(with_search(recipe, tested, live, domain), maker)
    search = _built("searches", recipe.search.use, kept_by(recipe) | recipe.search.parameters)
    recipe = with_judge(with_aim(with_suggestions(recipe, search, tested, live, domain)), domain)
    made = {TESTED: tested} | {
        name: _role(name, recipe.classifiers.get(name), live.get(name), domain, data)
        for name in dict.fromkeys((*recipe.classifiers, *live))
        if name != TESTED
    }
    roles = {name: one.role for name, one in made.items()}
    digests = {file: digest for one in made.values() for file, digest in one.digests.items()}
    device = _device(recipe.engine.device)
    for model in (maker, *(role.classifier for role in roles.values())):
        if isinstance(model, Movable):
            model.to(device)
    validators = tuple(make_validator(v, domain, data) for v in recipe.validators or ())
    _independent(tested, validators)
    objective = _built("objectives", recipe.objective.use, recipe.objective.parameters)
    oracle = _built("oracles", recipe.oracle.use, recipe.oracle.parameters)
    roles = with_derived(roles, objective)
    refuse_unfit_roles(roles, objective, oracle, search)
    _refuse_unknown_rank(recipe, objective)
    searches, attempts = {Arm.SEARCH: search}, {Arm.SEARCH: recipe.attempts}
    if recipe.baseline.attempts:
        searches[Arm.BASELINE] = _built("searches", recipe.baseline.use, _baseline_parameters(recipe, search))
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
        given=Given(generator, live),
    )


def _built(heading: str, use: str, parameters: Mapping[str, Any]) -> Any:
    """A part; whoever gives it a word where it wants a number is told so."""
    for one in parameters_of(find(heading, use)):
        value = parameters.get(one.name, one.default)
        if not one.takes(value):
            wanted = "neither true nor false" if one.kind is Kind.YES_NO else f"no {one.kind}"
            raise RecipeError(f"{singular(heading)} '{use}': {one.name} = {value!r} is {wanted}", one.about)
    return build(heading, use, parameters)


def _data(recipe: Recipe, domain: Domain, maker: Generator) -> RealImages:
    """Real images; where there are none, and searches start from samples, those that the generator makes."""
    try:
        return real_images(domain, recipe.data, "test")
    except DataError:
        if recipe.data is not None or recipe.begins == "real" or (recipe.begins == "auto" and prefers_real(maker)):
            raise
    return MadeImages(maker, len(domain.classes))


def _role(
    name: str, part: Part | None, live: Classifier | nn.Module | None, domain: Domain, data: RealImages
) -> MadeRole:
    if isinstance(live, nn.Module):
        live = AdaptedClassifier(type(live).__name__, live, domain.classes)
    model, digests = _model("classifiers", part, live, domain, data)
    return MadeRole(make_role(name, model), digests)


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


def make_validator(part: Part, domain: Domain, data: RealImages) -> Validator:
    """A validator; it is given the domain and real images where it asks for them."""
    offered = {"domain": domain, "data": data}
    wanted = inspect.signature(find("validators", part.use)).parameters
    given = {name: value for name, value in offered.items() if name in wanted}
    validator: Validator = _built("validators", part.use, given | part.parameters)
    return validator


def _digests(validators: tuple[Validator, ...]) -> dict[str, str]:
    return {file: digest for v in validators if isinstance(v, Digested) for file, digest in v.digests.items()}


def _independent(tested: MadeRole, validators: tuple[Validator, ...]) -> None:
    """A classifier may not be its own judge."""
    shared = set(tested.digests.values()) & set(_digests(validators).values())
    if shared:
        raise RecipeError(
            f"classifier '{tested.role.classifier.name}' is one of the judge's reference classifiers",
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
