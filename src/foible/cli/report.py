"""`foible report`: summary, page and machine-readable files of a run, also while it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import FailIf, Quiet, RunArgument


def report(
    run: RunArgument,
    html: Annotated[
        Path | None, typer.Option(help="Where the page goes [default: RUN/report.html].", show_default=False)
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the summary as JSON.", show_default=False)] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML for a build server.", show_default=False)] = None,
    fail_if: FailIf = None,
    quiet: Quiet = False,
) -> int:
    """Print the summary of a run, write its page.

    Works while the run is being written. --json and --junit are for machines.
    """
    from foible.cli.run import show

    return 0 if show(run, fail_if, quiet, html, json, junit) else 1
