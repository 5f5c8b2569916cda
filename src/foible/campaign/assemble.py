"""From a recipe to live parts."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import torch

from foible.campaign.spec import Part, Recipe
from foible.classifiers.adapted import AdaptedClassifier
from foible.digest import weights_digest
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import ModelError, RecipeError
from foible.protocols import Classifier, Generator, Objective, Oracle, Search, Validator
from foible.registry import build, find, singular
from foible.seeding import Streams
from foible.types import Arm, Budget
from foible.validators.fitted import judge_is_there
from foible.zoo import resolve


@dataclass(frozen=True)
class Campaign:
    """The experiment as a value: the parts of a recipe, ready to run."""

    recipe: Recipe
    domain: Domain
    data: RealImages
    generator: Generator
    classifier: Classifier
    objective: Objective
    oracle: Oracle
    validators: tuple[Validator, ...]
    searches: dict[Arm, Search]
    attempts: dict[Arm, int]
    budget: Budget
    streams: Streams
    digests: dict[str, str]
    device: torch.device


def assemble(
    recipe: Recipe, generator: Generator | None = None, classifier: Classifier | torch.nn.Module | None = None
) -> Campaign:
    """Load and build everything a recipe names; live objects take the place of what it says.

    Args:
        recipe: the campaign as data.
        generator: used instead of the recipe's generator.
        classifier: used instead of the recipe's classifier; a bare torch module gives logits in the domain's class order.
    """
    domain = load_domain(recipe.domain)
    data = real_images(domain, recipe.data, "test")
    live_generator, generator_digests = _model(
        "generators", recipe.generator.use, recipe.generator.parameters, generator
    )
    if isinstance(classifier, torch.nn.Module):
        classifier = AdaptedClassifier(type(classifier).__name__, classifier, domain.classes)
    live_classifier, classifier_digests = _model(
        "classifiers", recipe.classifier.use, recipe.classifier.parameters, classifier, domain, data
    )
    device = _device(recipe.engine.device)
    for model in (live_generator, live_classifier):
        if hasattr(model, "to"):
            model.to(device)
    recipe = _with_judge(recipe, domain)
    validators = tuple(make_validator(v, domain, data) for v in recipe.validators or ())
    _independent(live_classifier, classifier_digests, validators)
    search = build("searches", recipe.search.use, recipe.search.parameters)
    searches, attempts = {Arm.SEARCH: search}, {Arm.SEARCH: recipe.attempts}
    if recipe.baseline.attempts:
        searches[Arm.BASELINE] = build("searches", recipe.baseline.use, _baseline_parameters(recipe))
        attempts[Arm.BASELINE] = min(recipe.attempts, recipe.baseline.attempts)
    return Campaign(
        recipe=recipe,
        domain=domain,
        data=data,
        generator=live_generator,
        classifier=live_classifier,
        objective=build("objectives", recipe.objective.use, recipe.objective.parameters),
        oracle=build("oracles", recipe.oracle.use, recipe.oracle.parameters),
        validators=validators,
        searches=searches,
        attempts=attempts,
        budget=Budget(recipe.budget.evaluations, recipe.budget.seconds),
        streams=Streams(recipe.seed),
        digests=generator_digests | classifier_digests | _digests(validators),
        device=device,
    )


def _model(
    role: str,
    use: str,
    parameters: dict[str, Any],
    live: Any,
    domain: Domain | None = None,
    data: RealImages | None = None,
) -> tuple[Any, dict[str, str]]:
    if live is not None and getattr(live, "digests", None):
        return live, dict(live.digests)
    if live is not None:
        return live, {f"{singular(role)} object {getattr(live, 'name', type(live).__name__)}": weights_digest(live)}
    resolved = resolve(role, use, parameters, domain, data)
    return resolved.model, resolved.digests


def _with_judge(recipe: Recipe, domain: Domain) -> Recipe:
    """The recipe with its validators written out: the domain's judge, if it is installed and the recipe says nothing."""
    if recipe.validators is None:
        judge = (Part(use="judge"),) if judge_is_there(domain) else ()
        recipe = recipe.model_copy(update={"validators": judge})
    if recipe.stop == "counts" and not recipe.validators:
        raise RecipeError(
            'stop = "counts" needs validators to say what counts, and there are none',
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
    return {file: digest for v in validators for file, digest in getattr(v, "digests", {}).items()}


def _independent(classifier: Classifier, digests: dict[str, str], validators: tuple[Validator, ...]) -> None:
    """A classifier may not be its own judge."""
    shared = set(digests.values()) & set(_digests(validators).values())
    if shared:
        raise RecipeError(
            f"classifier '{classifier.name}' is one of the judge's reference classifiers",
            "test another classifier, or leave the judge out: validators = []",
        )


def _baseline_parameters(recipe: Recipe) -> dict[str, Any]:
    """The random baseline takes its reach from the search it stands beside, unless the recipe says otherwise."""
    own = recipe.baseline.parameters
    if recipe.baseline.use != "random":
        return own
    shared = {k: v for k, v in recipe.search.parameters.items() if k in {"extent", "cap"}}
    return shared | own


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
