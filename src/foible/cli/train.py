"""`foible train`: fit a generator or a classifier on a domain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from foible.cli.options import Data, Quiet
from foible.cli.training_progress import training_progress
from foible.errors import RecipeError
from foible.registry import BUILT_IN

if TYPE_CHECKING:
    from foible.training.train import TrainingRecipe


def train(
    family: Annotated[
        str, typer.Argument(help=f"What to train: {', '.join(BUILT_IN['learners'])}, judge.", show_default=False)
    ],
    domain: Annotated[str, typer.Option(help="A domain name, a domain .toml, or a class-per-folder tree.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The model file, ending in .safetensors [default: into your zoo].", show_default=False
        ),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(help="A training recipe [default: the one of domain and family].", show_default=False)
    ] = None,
    data: Data = None,
    epochs: Annotated[int | None, typer.Option(show_default=False)] = None,
    batch: Annotated[int | None, typer.Option(show_default=False)] = None,
    learning_rate: Annotated[float | None, typer.Option(show_default=False)] = None,
    patience: Annotated[
        int | None, typer.Option(help="Stop after so many epochs without a better one.", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(show_default=False)] = None,
    tune: Annotated[
        int | None, typer.Option(min=1, help="Try so many variations and keep the best.", show_default=False)
    ] = None,
    tune_for: Annotated[Literal["kid", "fid"], typer.Option(help="What --tune judges generators by.")] = "kid",
    quiet: Quiet = False,
) -> int:
    """Train a generator or a classifier.

    The file that was written is measured; its card and its loss curve are put beside it. Without --out it is installed
    in your zoo, where recipes find it by name. The same command resumes.
    """
    from foible.training.train import train as fit
    from foible.training.train import training_recipe

    fit_changes = {
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "patience": patience,
        "seed": seed,
    }
    given = {k: v for k, v in fit_changes.items() if v is not None}
    chosen = training_recipe(family, domain, recipe, given)
    path = out or _place(chosen, recipe)
    if tune:
        card = _tuned(chosen, path, data, tune, tune_for, [f"fit.{k}" for k in given], quiet)
    else:
        with training_progress(quiet, chosen.fit.epochs) as listener:
            card = fit(chosen, path, data, listener.epoch, listener.advance).card
    figures = "".join(f", {k.replace('_', ' ')} {v:.4f}" for k, v in card["figures"].items())
    print(f"{path}: trained in {card['training_seconds']:.0f} s{figures}")
    if not out and family not in {"classifier", "judge"}:
        print(f"installed as '{path.stem}'; foible zoo appraise {path.stem} measures what its card still lacks")
    return 0


def _place(recipe: TrainingRecipe, reference: str | None) -> Path:
    """Where a model goes that is installed in the user's zoo; one that can be used already is not replaced."""
    from foible.domains import load_domain
    from foible.zoo import entries, own_zoo
    from foible.zoo.trainable import model_name

    name = model_name(recipe.family, load_domain(recipe.domain), reference)
    if there := entries().get(name):
        raise RecipeError(
            f"the zoo has '{name}' already: {there.weights}", "train it to a file of your own with --out, or remove it"
        )
    return own_zoo() / f"{name}.safetensors"


def _tuned(
    recipe: TrainingRecipe,
    out: Path,
    data: str | None,
    trials: int,
    toward: Literal["kid", "fid"],
    settled: list[str],
    quiet: bool,
) -> dict[str, Any]:
    from foible.training.ranges import without
    from foible.training.train import model_file
    from foible.training.tune import keep_best, tune

    varied, folder = without(recipe, settled), model_file(out).with_suffix(".trials")
    with training_progress(quiet, recipe.fit.epochs, trials) as listener:
        tuned = tune(varied, trials, folder, data, listener.trial, listener.advance, toward)
    if not quiet:
        print(f"best of {tuned.trials} ({tuned.pruned} stopped early): {tuned.measure} {tuned.value:.5f}")
        for key in varied.tune:
            table, _, setting = key.partition(".")
            print(f"  {key} = {tuned.recipe.model_dump()[table][setting]}")
    return keep_best(tuned, out)
