"""`foible train`: fit a generator or a classifier on a domain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import Data, Quiet


def train(
    family: Annotated[str, typer.Argument(help="What to train: vae or classifier.", show_default=False)],
    domain: Annotated[str, typer.Option(help="A domain name, a domain .toml, or a class-per-folder tree.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file, ending in .safetensors.")],
    recipe: Annotated[
        str | None, typer.Option(help="A training recipe [default: the one of domain and family].", show_default=False)
    ] = None,
    data: Data = None,
    epochs: Annotated[int | None, typer.Option(show_default=False)] = None,
    batch: Annotated[int | None, typer.Option(show_default=False)] = None,
    learning_rate: Annotated[float | None, typer.Option(show_default=False)] = None,
    seed: Annotated[int | None, typer.Option(show_default=False)] = None,
    quiet: Quiet = False,
) -> int:
    """Train a generator or a classifier.

    The file that was written is measured, and a card put beside it. The same command resumes.
    """
    from foible.training.train import train as fit
    from foible.training.train import training_recipe

    changes = {"epochs": epochs, "batch": batch, "learning_rate": learning_rate, "seed": seed}
    chosen = training_recipe(family, domain, recipe, {k: v for k, v in changes.items() if v is not None})

    def report(figures: dict[str, float]) -> None:
        if not quiet:
            numbers = "  ".join(f"{k} {v:.4f}" for k, v in figures.items() if k != "epoch")
            print(f"epoch {figures['epoch']:.0f}/{chosen.fit.epochs}  {numbers}", file=sys.stderr)

    trained = fit(chosen, out, data, report)
    figures = ", ".join(f"{k.replace('_', ' ')} {v:.4f}" for k, v in trained.card["figures"].items())
    print(f"{trained.path}: {figures} ({trained.card['training_seconds']:.0f} s)")
    return 0
