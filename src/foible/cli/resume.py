"""`foible resume`: go on with a run from its folder alone."""

from __future__ import annotations

from typing import Annotated

import typer

from foible.cli.options import Address, FailIf, Quiet, RunArgument, Trust, WorkersOption, recipe_changes, with_trust


def resume(
    run: RunArgument,
    repair: Annotated[bool, typer.Option("--repair", help="Keep what is sound of a damaged run, then go on.")] = False,
    trust: Trust = False,
    workers: WorkersOption = None,
    address: Address = None,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Go on with an interrupted run.

    --repair first sets a damaged database aside and keeps what is sound.
    """
    from foible.campaign import load_recipe
    from foible.campaign.trust import must_be_trusted
    from foible.cli.run import run_recipe
    from foible.store.layout import Layout
    from foible.store.manifest import read_manifest
    from foible.store.repair import repair as repair_run

    recipe = load_recipe(read_manifest(run).recipe, recipe_changes(workers=workers, address=address))
    with_trust(lambda trust: None if trust else must_be_trusted(Layout(run), recipe.resolved()), trust)
    if repair:
        for note in repair_run(run):
            print(f"dropped: {note}")
    return run_recipe(recipe, run, fail_if, quiet)
