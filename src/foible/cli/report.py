"""`foible report`: summary, page and machine-readable files of a run, also while it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import FailIf, Quiet, RunArgument

Target = Annotated[Path | None, typer.Option(show_default=False)]


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
    """Print the summary of a run and write its page; `--json` and `--junit` for machines."""
    from foible.report import parse_gates, summarise, write_json, write_junit, write_page
    from foible.report.text import print_summary
    from foible.store import open_run

    gates = parse_gates(fail_if or [])
    opened = open_run(run)
    summary = summarise(opened)
    page = write_page(opened, html)
    if json:
        write_json(summary, json)
    if junit:
        write_junit(opened, junit)
    results = [gate.judge(summary.metrics) for gate in gates]
    if not quiet:
        print_summary(summary, page)
        for result in results:
            print(f"gate {'passed' if result.passed else 'FAILED'}: {result.text}")
    return 0 if all(r.passed for r in results) else 1
