"""Look for better training settings: Optuna tries them, stops hopeless ones early, and keeps what measured best.

Generators are judged by KID (FID beside it), classifiers by their error on held-out images. What may vary is a table
of the training recipe, `[tune]`: a setting and its range, as in `"fit.learning_rate" = [1e-4, 1e-2]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from foible.domains import Domain, load_domain, real_images
from foible.errors import MissingExtra, RecipeError
from foible.training.features import Features, features_for
from foible.training.realism import Realism, realism
from foible.training.samples import made_beside_real
from foible.training.train import TrainingRecipe, train
from foible.zoo.files import load_model

Range = list[Any]
DEFAULT_RANGES: dict[str, Range] = {"fit.learning_rate": [2e-4, 5e-3], "fit.batch": [64, 256]}
JUDGED_ON = 1000  # images
PRUNED_BY = ("error", "bound", "velocity_error")  # figures of an epoch that foretell the end; a GAN has none


@dataclass(frozen=True)
class Tuned:
    """The best recipe found, its number, and what the number is."""

    recipe: TrainingRecipe
    value: float
    measure: str
    trials: int
    pruned: int


def tune(
    recipe: TrainingRecipe,
    trials: int,
    folder: Path,
    data: str | Path | None = None,
    report: Callable[[int, float | None], None] = lambda _number, _value: None,
) -> Tuned:
    """Train a recipe's variations and return the best one.

    Args:
        recipe: where to start; its `[tune]` table says what may vary.
        trials: how many variations.
        folder: where the variations' model files go.
        data: where the images are.
        report: called with the number and value of each trial; None for one stopped early.
    """
    optuna = _optuna()
    domain = load_domain(recipe.domain)
    features = None if recipe.family == "classifier" else features_for(domain)
    sampler, pruner = optuna.samplers.TPESampler(seed=recipe.fit.seed), optuna.pruners.MedianPruner(n_startup_trials=2)
    study = optuna.create_study(sampler=sampler, pruner=pruner)

    def attempt(trial: Any) -> float:
        varied = vary(recipe, {key: _suggest(trial, key, r) for key, r in _ranges(recipe).items()})
        path = folder / f"trial-{trial.number}.safetensors"

        def watch(figures: dict[str, float]) -> None:
            hope = next((figures[name] for name in PRUNED_BY if name in figures), None)
            if hope is not None:
                trial.report(hope, int(figures["epoch"]))
            if hope is not None and trial.should_prune():
                raise optuna.TrialPruned

        card = train(varied, path, data, watch).card
        return 1 - card["figures"]["test_accuracy"] if features is None else _distance(path, domain, features, data).kid

    study.optimize(attempt, n_trials=trials, callbacks=[lambda _, t: report(t.number, t.value)])
    states = [t.state for t in study.trials]
    if optuna.trial.TrialState.COMPLETE not in states:
        raise RecipeError("no trial came to its end", "give more trials or narrower ranges")
    measure = "error" if features is None else f"KID ({features.name})"
    pruned = states.count(optuna.trial.TrialState.PRUNED)
    return Tuned(vary(recipe, study.best_params), float(study.best_value), measure, len(states), pruned)


def vary(recipe: TrainingRecipe, changes: Mapping[str, Any]) -> TrainingRecipe:
    """A recipe with other values under dotted keys such as `network.latent`."""
    facts = recipe.model_dump()
    for key, value in changes.items():
        table, _, name = key.partition(".")
        if table not in {"fit", "network"} or not name:
            raise RecipeError(
                f"'{key}' cannot be tuned", "name a setting of the recipe: fit.learning_rate, network.latent"
            )
        facts[table] = {**facts[table], name: value}
    return TrainingRecipe(**facts)


def _ranges(recipe: TrainingRecipe) -> dict[str, Range]:
    return recipe.tune or DEFAULT_RANGES


def _suggest(trial: Any, key: str, among: Range) -> Any:
    """Two numbers are a range (logarithmic where it spans a factor of ten), anything else a choice."""
    numbers = [v for v in among if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(among) != 2 or len(numbers) != 2:
        return trial.suggest_categorical(key, among)
    low, high = sorted(numbers)
    logarithmic = low > 0 and high / low >= 10
    if all(isinstance(v, int) for v in numbers):
        return trial.suggest_int(key, low, high, log=logarithmic)
    return trial.suggest_float(key, low, high, log=logarithmic)


@torch.inference_mode()
def _distance(path: Path, domain: Domain, features: Features, data: str | Path | None) -> Realism:
    pairs = list(made_beside_real(load_model(path, "generators"), real_images(domain, data, "test"), JUDGED_ON))
    return realism((p.real for p in pairs), (p.made for p in pairs), features)


def _optuna() -> Any:
    with suppress(ImportError):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        return optuna
    raise MissingExtra("optuna", "training", "tuning")
