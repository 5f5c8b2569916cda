"""`foible demo`: the whole line on the models that come with foible."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import Quiet


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder.")] = Path("runs/demo"),
    quiet: Quiet = False,
) -> int:
    """Fool a digit classifier in under a minute.

    Runs the whole line on models and images that come with foible, and writes the report.
    """
    from foible.campaign import load_recipe
    from foible.cli.run import run_recipe

    return run_recipe(load_recipe("demo"), out, quiet=quiet)
