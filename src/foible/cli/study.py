"""`foible study`: questions that are answered by training several models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import ClassifierOption, Data, Quiet
from foible.errors import RecipeError


def vae(
    more: Annotated[list[int] | None, typer.Argument(hidden=True)] = None,
    domain: Annotated[str, typer.Option(help="A domain's name, TOML file or folder of images.")] = "mnist",
    latent: Annotated[
        str, typer.Option(help="Sizes of the latent space: --latent 4 10 40, or 4,10,40.")
    ] = "4,10,40,100,400",
    kinds: Annotated[str, typer.Option(help="Networks, joined by commas.")] = "linear,convolutional",
    epochs: Annotated[int, typer.Option(help="Of each training.", min=1)] = 10,
    classifier: ClassifierOption = None,
    data: Data = None,
    seed: Annotated[int, typer.Option(help="Seed of the trainings.", min=0)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Where models and figures go [default: study/vae-DOMAIN].", show_default=False
        ),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Measure how many test images are still recognised after a VAE, by kind of network and size of its latent space.

    The same command goes on where it stopped.
    """
    from foible.training.vae_study import study_lines, vae_study

    sizes = [*_sizes(latent), *(more or [])]
    folder = out or Path("study") / f"vae-{Path(domain).stem}"
    say = (lambda _: None) if quiet else print
    names = tuple(kind.strip() for kind in kinds.split(",") if kind.strip())
    found = vae_study(domain, sizes, folder, names, epochs, classifier, data, seed, say)
    print("\n".join(study_lines(found)))
    return 0


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise RecipeError(
            f"--latent '{text}' is not a list of numbers", "for example --latent 4 10 40 100 400"
        ) from None


VERBS: dict[str, Callable[..., int]] = {"vae": vae}
