"""`foible resume`: go on with a run from its folder alone."""

from __future__ import annotations

from typing import Annotated

import typer

from foible.cli.options import FailIf, Quiet, RunArgument


def resume(
    run: RunArgument,
    repair: Annotated[bool, typer.Option("--repair", help="Keep what is sound of a damaged run, then go on.")] = False,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Go on with an interrupted run.

    --repair first sets a damaged database aside and keeps what is sound.
    """
    from foible.campaign import load_recipe
    from foible.cli.run import run_recipe
    from foible.store.manifest import read_manifest
    from foible.store.repair import repair as repair_run

    if repair:
        for note in repair_run(run):
            print(f"dropped: {note}")
    return run_recipe(load_recipe(read_manifest(run).recipe), run, fail_if, quiet)
