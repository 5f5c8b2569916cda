"""`foible labels`: were the labels of two classes mixed up in a model's training data?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import Data, Generator, Quiet, Seed, Set, recipe_changes
from foible.cli.progress import run_progress
from foible.cli.terminal import tell


def labels(
    model: Annotated[
        str, typer.Argument(help="The classifier: zoo name, model file, hub name or file.py:Name.", show_default=False)
    ],
    domain: Annotated[str, typer.Option(help="What it is for: a domain's name, TOML file or folder of images.")],
    data: Data = None,
    twin: Annotated[
        str | None,
        typer.Option(help="A model trained the same way on labels known to be right.", show_default=False),
    ] = None,
    generator: Generator = None,
    origins: Annotated[int, typer.Option(help="Searches from each class towards each other one.", min=1)] = 10,
    candidates: Annotated[int, typer.Option(help="Images to list for each pair with an alarm.", min=1)] = 50,
    seed: Seed = None,
    set_: Set = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Where runs, tables and page go [default: labels/<model>].", show_default=False
        ),
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Look for pairs of classes whose training labels are mixed up, and list the images to look at first.

    --data is what the model was trained on. Without a twin every pair is compared with all others.
    """
    from foible.borders.labels import alarm_recipe, label_alarm, training_images
    from foible.borders.labels_page import as_text, write
    from foible.cli.test import stem
    from foible.domains import load_domain

    changes = recipe_changes(set_, seed=seed, data=data)
    recipe = alarm_recipe({"use": model}, domain, generator, origins, changes)
    folder = out or Path("labels") / stem(model)
    tell(quiet)
    with run_progress(quiet) as listen:
        alarm = label_alarm(recipe, folder, {"use": twin} if twin else None, candidates, listen)
    page = write(alarm, training_images(load_domain(domain), recipe.data), folder)
    if not quiet:
        print(as_text(alarm))
        print(f"page: {page}")
    return 0 if alarm.complete else 3
