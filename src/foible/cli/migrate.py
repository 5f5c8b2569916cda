"""`foible migrate`: runs of earlier releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def migrate(runs: Annotated[list[Path], typer.Argument(help="Run folders.", show_default=False)]) -> int:
    """Bring runs of earlier releases up to date.

    Done in place; the old database and manifest are kept beside the new ones.
    """
    from foible.campaign import load_recipe
    from foible.store.migrate import migrate as bring_up

    for run in runs:
        kept = bring_up(run, lambda recipe: load_recipe(recipe).resolved())
        print(f"{run}: " + (f"up to date now; what it was is kept in {', '.join(kept)}" if kept else "nothing to do"))
    return 0
