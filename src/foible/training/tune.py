"""Look for better training settings: Optuna tries them, stops hopeless ones early, and keeps what measured best.

Generators are judged by KID or FID, classifiers by their error on test images. What may vary is a table of the training
recipe, `[tune]`: a setting and its range, as in `"fit.learning_rate" = [1e-4, 1e-2]`.
The trials are written down one by one in a journal, so that the same command goes on after a stop.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tomli_w
import torch

from foible.domains import Domain, load_domain, real_images
from foible.errors import MissingExtra, RecipeError, StoreError
from foible.registry import table
from foible.training.features import Features, features_for
from foible.training.ranges import ranges, suggest, vary
from foible.training.realism import Realism, import_metrics, realism
from foible.training.samples import made_beside_real
from foible.training.train import TrainingRecipe, train
from foible.zoo.files import load_model

Toward = Literal["kid", "fid"]
JUDGED_ON = 1000  # images
PRUNED_BY = ("error", "bound", "velocity_error")  # figures of an epoch that foretell the end; a GAN has none


@dataclass(frozen=True)
class Tuned:
    """The best recipe found, the file trained with it, its number, and what the number is."""

    recipe: TrainingRecipe
    path: Path
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
    advance: Callable[[float], None] = lambda _: None,
    toward: Toward = "kid",
) -> Tuned:
    """Train a recipe's variations and return the best one.

    Args:
        recipe: where to start; its `[tune]` table says what may vary.
        trials: how many variations.
        folder: where the journal and the variations' model files go; a tuning that was begun there goes on.
        data: where the images are.
        report: called with the number and value of each trial; None for one stopped early.
        advance: called after each step with the share of the running trial that is done.
        toward: what generators are judged by.
    """
    if recipe.family not in table("learners"):
        raise RecipeError(f"a {recipe.family} is not tuned", "leave --tune out: it is fitted without settings to vary")
    optuna = _optuna()
    domain = load_domain(recipe.domain)
    features = None if recipe.family == "classifier" else features_for(domain)
    if features is not None:
        import_metrics()  # better missed now than after the first trial
    study = _study(optuna, {"recipe": recipe.model_dump(mode="json"), "toward": toward}, recipe.fit.seed, folder)

    def attempt(trial: Any) -> float:
        varied = vary(recipe, {key: suggest(trial, key, r) for key, r in ranges(recipe).items()})

        def watch(figures: dict[str, float]) -> None:
            hope = next((figures[name] for name in PRUNED_BY if name in figures), None)
            if hope is not None:
                trial.report(hope, int(figures["epoch"]))
            if hope is not None and trial.should_prune():
                raise optuna.TrialPruned

        path = _trial_path(folder, trial.number)
        card = train(varied, path, data, watch, advance).card
        if features is None:
            return 1 - float(card["figures"]["test_accuracy"])
        return float(getattr(_distance(path, domain, features, data), toward))

    ended = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    left = trials - len(study.get_trials(states=ended))
    if left > 0:
        study.optimize(attempt, n_trials=left, callbacks=[lambda _, t: report(t.number, t.value)])
    complete, pruned = (len(study.get_trials(states=(state,))) for state in ended)
    if not complete:
        raise RecipeError("no trial came to its end", "give more trials or narrower ranges")
    measure = "error" if features is None else f"{toward.upper()} ({features.name})"
    best = _trial_path(folder, study.best_trial.number)
    return Tuned(vary(recipe, study.best_params), best, float(study.best_value), measure, complete + pruned, pruned)


def keep_best(tuned: Tuned, out: Path) -> dict[str, Any]:
    """Move the best trial's model to its place, write into its card how it was found, and clear the other trials away."""
    card = tomllib.loads(tuned.path.with_suffix(".toml").read_text())
    found = {"measure": tuned.measure, "value": tuned.value, "trials": tuned.trials, "pruned": tuned.pruned}
    card |= {"file": out.name, "tuned": found}
    for suffix in (".safetensors", ".loss.png"):
        shutil.move(tuned.path.with_suffix(suffix), out.with_suffix(suffix))
    out.with_suffix(".toml").write_text(tomli_w.dumps(card))
    shutil.rmtree(tuned.path.parent)
    return card


def _study(optuna: Any, asked: dict[str, Any], seed: int, folder: Path) -> Any:
    """The study in this folder; a journal of another recipe is refused."""
    folder.mkdir(parents=True, exist_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "journal.log"))
    study = optuna.create_study(storage=optuna.storages.JournalStorage(backend), study_name="tune", load_if_exists=True)
    if study.user_attrs.get("asked", asked) != asked:
        raise StoreError(f"'{folder}' holds a tuning of another recipe", "delete it to start again")
    study.set_user_attr("asked", asked)
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.trials))  # no trial twice after a stop
    study.pruner = optuna.pruners.MedianPruner(n_startup_trials=2)
    return study


def _trial_path(folder: Path, number: int) -> Path:
    return folder / f"trial-{number}.safetensors"


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
