"""`foible run`: run a recipe, or go on where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foible.cli.options import (
    Attempts,
    Chunk,
    ClassifierOption,
    Data,
    Device,
    FailIf,
    Generator,
    Lanes,
    Out,
    Quiet,
    RecipeArgument,
    Seed,
    Set,
    recipe_changes,
)
from foible.cli.progress import run_progress

if TYPE_CHECKING:
    from foible.campaign import Recipe


def run(
    recipe: RecipeArgument,
    out: Out = None,
    attempts: Attempts = None,
    seed: Seed = None,
    generator: Generator = None,
    classifier: ClassifierOption = None,
    data: Data = None,
    set_: Set = None,
    lanes: Lanes = None,
    chunk: Chunk = None,
    device: Device = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after this long; the same command goes on.", show_default=False)
    ] = None,
    baseline: Annotated[bool, typer.Option(help="Run the random baseline too.")] = True,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Run a recipe into a folder; the same command resumes what was interrupted."""
    from foible.campaign import load_recipe

    changes = recipe_changes(
        set_,
        attempts=attempts,
        seed=seed,
        generator=generator,
        classifier=classifier,
        data=data,
        lanes=lanes,
        chunk=chunk,
        device=device,
    )
    if seconds is not None:
        changes["budget.seconds"] = seconds
    if not baseline:
        changes["baseline.attempts"] = 0
    return run_recipe(load_recipe(recipe, changes), out, fail_if, quiet)


def run_recipe(recipe: Recipe, out: Path | None, fail_if: list[str] | None = None, quiet: bool = False) -> int:
    """Run, write the report, print the summary, apply the gate; gives the exit code."""
    from foible.campaign import assemble
    from foible.campaign import run as run_campaign
    from foible.report import parse_gates

    gates = parse_gates(fail_if or [])  # a typo in a gate should not cost a run
    folder = out or Path("runs") / recipe.name
    campaign = assemble(recipe)
    with run_progress(quiet) as listen:
        state = run_campaign(campaign, folder, listen)
    return conclude(folder, gates, quiet, state)


def conclude(folder: Path, gates: list[Any], quiet: bool, state: str) -> int:
    """What follows a run: the page, the summary, the gate."""
    from foible.report import summarise, write_page
    from foible.report.text import print_summary
    from foible.store import open_run

    opened = open_run(folder)
    page = write_page(opened)
    summary = summarise(opened)
    results = [gate.judge(summary.metrics) for gate in gates]
    if not quiet:
        print_summary(summary, page)
        for result in results:
            print(f"gate {'passed' if result.passed else 'FAILED'}: {result.text}")
        if state != "complete":
            print(f"the run is not complete ({state}): go on with  foible resume {folder}")
    if state != "complete":
        return 3
    return 0 if all(r.passed for r in results) else 1
