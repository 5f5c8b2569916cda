"""`foible run`: run a recipe, or go on where it stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foible.cli.options import (
    Address,
    Attempts,
    Chunk,
    ClassifierOption,
    Data,
    Device,
    FailIf,
    Generator,
    Lanes,
    Origins,
    Out,
    Quiet,
    RecipeArgument,
    Seed,
    Set,
    WorkersOption,
    recipe_changes,
)
from foible.cli.progress import run_progress
from foible.cli.terminal import console, tell

if TYPE_CHECKING:
    from foible.campaign import Campaign, Recipe


def run(
    recipe: RecipeArgument,
    out: Out = None,
    attempts: Attempts = None,
    seed: Seed = None,
    generator: Generator = None,
    classifier: ClassifierOption = None,
    data: Data = None,
    origins: Origins = None,
    set_: Set = None,
    lanes: Lanes = None,
    chunk: Chunk = None,
    device: Device = None,
    workers: WorkersOption = None,
    address: Address = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after this long; the same command goes on.", show_default=False)
    ] = None,
    baseline: Annotated[bool, typer.Option(help="Run the random baseline too.")] = True,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Run a recipe; the same command resumes it.

    Everything goes into one folder: the store, the images, the report. A folder that holds another recipe is refused.
    """
    from foible.campaign import load_recipe

    changes = recipe_changes(
        set_,
        attempts=attempts,
        seed=seed,
        generator=generator,
        classifier=classifier,
        data=data,
        origins=origins,
        lanes=lanes,
        chunk=chunk,
        device=device,
        workers=workers,
        address=address,
    )
    if seconds is not None:
        changes["budget.seconds"] = seconds
    if not baseline:
        changes["baseline.attempts"] = 0
    return run_recipe(load_recipe(recipe, changes), out, fail_if, quiet)


def run_recipe(
    recipe: Recipe,
    out: Path | None,
    fail_if: list[str] | None = None,
    quiet: bool = False,
    announce: Callable[[Campaign], None] = lambda _: None,
) -> int:
    """Run, write the report, print the summary, apply the gate; gives the exit code.

    Args:
        recipe: what to run.
        out: the run folder; `runs/<recipe name>` by default.
        fail_if: gates.
        quiet: print nothing.
        announce: told of the campaign once its models are loaded, unless all is to be quiet.
    """
    from foible.campaign import assemble
    from foible.campaign import run as run_campaign
    from foible.report import check_gate
    from foible.report.flat import metric_names

    check_gate(fail_if or [], metric_names())  # a typo in a gate should not cost a run
    folder = out or Path("runs") / recipe.name
    tell(quiet)
    campaign = assemble(recipe)
    if not quiet:
        announce(campaign)
    with run_progress(quiet) as listen:
        state = run_campaign(campaign, folder, listen)
    passed = show(folder, fail_if, quiet)
    if state != "complete":
        return 3
    return 0 if passed else 1


def show(
    folder: Path,
    fail_if: list[str] | None,
    quiet: bool,
    page: Path | None = None,
    json: Path | None = None,
    junit: Path | None = None,
) -> bool:
    """Write the page and whatever else is wanted, print the summary, and tell whether the gate was passed."""
    from foible.report import check_gate, summarise, write_json, write_junit, write_page
    from foible.report.text import print_summary
    from foible.store import open_run

    opened = open_run(folder)
    summary = summarise(opened)
    written = write_page(opened, page, summary)
    if json:
        write_json(summary, json)
    if junit:
        write_junit(opened, junit, summary)
    gate = check_gate(fail_if or [], summary.metrics)
    if not quiet:
        print_summary(summary, console(), page=written)
        if fail_if:
            print(gate.text)
    elif not gate.passed:
        print(gate.text, file=sys.stderr)
    return gate.passed
