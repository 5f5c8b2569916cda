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
    """Find digits that fool a classifier, in under a minute, with models that come with foible."""
    from foible.campaign import load_recipe
    from foible.cli.run import run_recipe

    return run_recipe(load_recipe("demo"), out, quiet=quiet)
