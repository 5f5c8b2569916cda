"""`foible export`: findings for other tools."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from foible.cli.options import RunArgument
from foible.errors import RecipeError, did_you_mean

Judged = Literal["yes", "no", "unknown"]


def _file(text: str) -> Any:
    return typer.Option(help=text, show_default=False)


def export(
    run: RunArgument,
    zip: Annotated[Path | None, _file("A zip with telling file names, a table and the manifest.")] = None,
    tree: Annotated[
        Path | None, _file("A class-per-folder tree, ready to train on: those that count, unless --all.")
    ] = None,
    parquet: Annotated[Path | None, _file("A table with latents and probabilities.")] = None,
    json: Annotated[Path | None, _file("The same as JSON.")] = None,
    counts: Annotated[
        bool | None,
        typer.Option(
            "--counts/--all",
            help="Only failures that count, or all [default: --counts for --tree].",
            show_default=False,
        ),
    ] = None,
    expected: Annotated[str | None, _file("Only failures of this class.")] = None,
    predicted: Annotated[str | None, _file("Only failures taken for this class.")] = None,
    least: Annotated[int | None, _file("Only those that cost so many evaluations or more.")] = None,
    most: Annotated[int | None, _file("Only those that cost so many evaluations or fewer.")] = None,
    valid: Annotated[Judged | None, _file("Is it an image of the domain: yes, no, unknown.")] = None,
    kept: Annotated[Judged | None, _file("Does it keep its label: yes, no, unknown.")] = None,
) -> int:
    """Write failures as zip, tree, Parquet or JSON, all of them or some."""
    from foible.report.wording import plural
    from foible.store import open_run
    from foible.store.export import to_json, to_parquet, to_tree, to_zip
    from foible.store.selection import Wanted

    targets = [(to_zip, zip), (to_tree, tree), (to_parquet, parquet), (to_json, json)]
    if not any(path for _, path in targets):
        raise RecipeError("nothing to export", "say --zip FILE, --tree FOLDER, --parquet FILE or --json FILE")
    opened = open_run(run)
    label, taken_for = (_number(opened.classes, name) for name in (expected, predicted))
    wanted = Wanted(label, taken_for, least, most, valid or "", kept or "", "yes" if counts else "")
    damaged: dict[str, None] = {}
    for write, path in targets:
        if not path:
            continue
        ready = write is to_tree and counts is None
        written = write(opened, path, replace(wanted, counts="yes") if ready else wanted)
        left = f"; {written.unwanted} left out" if written.unwanted else ""
        print(
            f"{path}: {plural(written.count, 'failure')}{left}{', --all takes those that do not count' if left and ready else ''}"
        )
        damaged |= dict.fromkeys(written.damaged)
    for reason in damaged:
        print(f"left out: {reason}", file=sys.stderr)
    return 3 if damaged else 0


def _number(classes: tuple[str, ...], name: str | None) -> int | None:
    if name is None:
        return None
    if name not in classes:
        raise RecipeError(f"the run has no class '{name}'", did_you_mean(name, classes))
    return classes.index(name)
