"""From a training recipe to a model file and its card."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w
import torch
from pydantic import BaseModel, ConfigDict, ValidationError

from foible.digest import sha256
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import DataError, RecipeError, did_you_mean
from foible.registry import build, find, table
from foible.training.curve import draw_curve
from foible.training.fit import History, fit
from foible.training.settings import FitSettings
from foible.zoo.files import load_model, save_model
from foible.zoo.trainable import TRAINING_RECIPES

JUDGE = "judge"  # trained from reference classifiers, not by a learner


class TrainingRecipe(BaseModel):
    """What to train, on what, and how."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    family: str
    domain: str
    licence: str = "MIT"  # of the weights; those that start from others' keep the others' terms
    network: dict[str, Any] = {}
    fit: FitSettings = FitSettings()
    tune: dict[str, list[Any]] = {}  # what `--tune` may vary: a dotted setting and its range or choices


@dataclass(frozen=True)
class Trained:
    """A model file, its card, and how the training went."""

    path: Path
    card: dict[str, Any]
    history: History


def families() -> list[str]:
    """What can be trained."""
    return [*table("learners"), JUDGE]


def training_recipe(
    family: str, domain: str, reference: str | None = None, changes: dict[str, Any] | None = None
) -> TrainingRecipe:
    """A recipe by file or name; without one, the built-in recipe of this domain and family, else the defaults."""
    if family not in families():
        raise RecipeError(f"no family is called '{family}'", did_you_mean(family, families()))
    path = _recipe_path(reference or f"{Path(domain).stem}-{family}")
    if path is None and reference is not None:
        raise RecipeError(
            f"no training recipe '{reference}'",
            did_you_mean(reference, (p.stem for p in TRAINING_RECIPES.glob("*.toml"))),
        )
    try:
        facts: dict[str, Any] = tomllib.loads(path.read_text()) if path else {"family": family}
        facts["domain"] = domain
        facts["fit"] = facts.get("fit", {}) | (changes or {})
        return TrainingRecipe(**facts)
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise RecipeError(
            f"training recipe '{path or family}' is wrong: {error}", "compare it with a built-in one: foible ls recipes"
        ) from error


def _recipe_path(reference: str) -> Path | None:
    candidates = [Path(reference), TRAINING_RECIPES / f"{reference}.toml"]
    return next((p for p in candidates if p.suffix == ".toml" and p.is_file()), None)


def model_file(out: Path) -> Path:
    """The path itself, if it can be a model file's."""
    if out.suffix != ".safetensors":
        raise RecipeError(f"--out '{out}' must end in .safetensors", "model files are safetensors with a foible header")
    return out


def train(
    recipe: TrainingRecipe,
    out: Path,
    data: str | Path | None = None,
    report: Callable[[dict[str, float]], None] = lambda _: None,
    advance: Callable[[float], None] = lambda _: None,
) -> Trained:
    """Train, write the model file, its card and its loss curve, and measure the file that was written.

    Args:
        recipe: what to train and how.
        out: the model file, ending in .safetensors; a checkpoint lives beside it until the training is done.
        data: where the images are; None looks around as for any domain.
        report: called with the figures of each epoch.
        advance: called after each step with the share of the training that is done.
    """
    model_file(out)
    domain = load_domain(recipe.domain)
    if recipe.family == JUDGE:
        return _train_judge(recipe, domain, out, data)
    training, testing = real_images(domain, data, "train"), real_images(domain, data, "test")
    with torch.random.fork_rng():
        torch.manual_seed(recipe.fit.seed)  # initial weights
        learner = build("learners", recipe.family, {"domain": domain, **recipe.network})
    if len(training.labels) < 2 * recipe.fit.batch:
        raise DataError(
            f"{training.source} has {len(training.labels)} images, too few for batches of {recipe.fit.batch}",
            "name more data with --data, or lower --batch",
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = out.with_suffix(".checkpoint")
    history = fit(learner, training, recipe.fit, checkpoint, report, advance)
    save_model(out, learner.header(), learner.tensors(training))
    figures = figures_on(recipe.family, load_model(out, learner.role), testing)
    parameters = sum(p.numel() for p in learner.network.parameters())
    card = _card(recipe, out, training, history, figures, parameters, domain.licence)
    out.with_suffix(".toml").write_text(tomli_w.dumps(card))
    draw_curve(history, learner.watch, out.with_suffix(".loss.png"))
    checkpoint.unlink(missing_ok=True)
    return Trained(out, card, history)


def _train_judge(recipe: TrainingRecipe, domain: Domain, out: Path, data: str | Path | None) -> Trained:
    """A judge is fitted by regressions on what reference classifiers see, without epochs."""
    from foible.training.judge import judge_for

    parts, figures, seconds = judge_for(recipe, data)
    save_model(out, parts.header(domain), parts.tensors(), torch.float32)  # few numbers, some of them thresholds
    history, parameters = History(seconds=seconds), sum(t.numel() for t in parts.tensors().values())
    rounded = {name: round(value, 5) for name, value in figures.items()}
    card = _card(recipe, out, real_images(domain, data, "test"), history, rounded, parameters, domain.licence)
    out.with_suffix(".toml").write_text(tomli_w.dumps(card))
    return Trained(out, card, history)


@torch.no_grad()
def figures_on(family: str, model: Any, data: RealImages) -> dict[str, float]:
    """What a stored model of this family shows on test images, averaged over them."""
    learner_class, sums = find("learners", family), dict[str, float]()
    for part in torch.arange(len(data.labels)).split(500):
        for name, values in learner_class.figures(model, data.images(part), data.labels[part]).items():
            sums[name] = sums.get(name, 0.0) + float(values.sum())
    return {name: round(total / len(data.labels), 5) for name, total in sums.items()}


def _card(
    recipe: TrainingRecipe,
    out: Path,
    data: RealImages,
    history: History,
    figures: dict[str, float],
    parameters: int,
    licence: str,
) -> dict[str, Any]:
    return {
        "file": out.name,
        "sha256": sha256(out),
        "bytes": out.stat().st_size,
        "parameters": parameters,
        "data": data.source,
        "licence": f"weights: {recipe.licence}; training images: {licence or 'a licence of their own'}",
        "training_seconds": round(history.seconds, 1),
        "epochs": len(history.epochs),
        "best_epoch": history.best_epoch,
        "figures": figures,
        "recipe": recipe.model_dump(exclude_none=True, exclude={"tune", "licence"}),
        "curve": {"loss": [round(e["loss"], 5) for e in history.epochs]},
    }
