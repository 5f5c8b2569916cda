"""From a recipe to live parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from foible.campaign.spec import Recipe
from foible.classifiers.module import ModuleClassifier
from foible.digest import weights_digest
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import ModelError, RecipeError
from foible.protocols import Classifier, Generator, Objective, Oracle, Search, Validator
from foible.registry import build, singular
from foible.seeding import Streams
from foible.types import Arm, Budget
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
        classifier = ModuleClassifier(type(classifier).__name__, classifier, domain.classes)
    live_classifier, classifier_digests = _model(
        "classifiers", recipe.classifier.use, recipe.classifier.parameters, classifier, domain, data
    )
    device = _device(recipe.engine.device)
    for model in (live_generator, live_classifier):
        if hasattr(model, "to"):
            model.to(device)
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
        validators=tuple(build("validators", v.use, v.parameters) for v in recipe.validators),
        searches=searches,
        attempts=attempts,
        budget=Budget(recipe.budget.evaluations, recipe.budget.seconds),
        streams=Streams(recipe.seed),
        digests=generator_digests | classifier_digests,
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
