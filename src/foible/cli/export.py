"""`foible export`: findings for other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import RunArgument
from foible.errors import RecipeError


def export(
    run: RunArgument,
    zip: Annotated[
        Path | None, typer.Option(help="A zip with telling file names, a table and the manifest.", show_default=False)
    ] = None,
    tree: Annotated[
        Path | None, typer.Option(help="A class-per-folder tree, ready to train on.", show_default=False)
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="A table with latents and probabilities.", show_default=False)
    ] = None,
) -> int:
    """Write findings as zip, tree or Parquet."""
    from foible.store import open_run
    from foible.store.export import to_parquet, to_tree, to_zip

    targets = [(to_zip, zip), (to_tree, tree), (to_parquet, parquet)]
    if not any(path for _, path in targets):
        raise RecipeError("nothing to export", "say --zip FILE, --tree FOLDER or --parquet FILE")
    opened = open_run(run)
    damaged: dict[str, None] = {}
    for write, path in targets:
        if path:
            written = write(opened, path)
            print(f"{path}: {written.count} findings")
            damaged |= dict.fromkeys(written.damaged)
    for reason in damaged:
        print(f"left out: {reason}", file=sys.stderr)
    return 3 if damaged else 0
