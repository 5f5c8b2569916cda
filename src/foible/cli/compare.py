"""`foible compare`: runs side by side on the origins they share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import Quiet


class Family(StrEnum):
    """What a correction keeps small."""

    HOLM = "holm"
    BENJAMINI_HOCHBERG = "benjamini-hochberg"


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run folders.", show_default=False)],
    correction: Annotated[
        Family, typer.Option(help="For many tests: holm (no false difference) or benjamini-hochberg (few of them).")
    ] = Family.HOLM,
    json: Annotated[Path | None, typer.Option(help="Write the comparison as JSON.", show_default=False)] = None,
    quiet: Quiet = False,
) -> int:
    """Compare runs that start from the same images.

    Confirmed failures, failures that count, and evaluations, each with a paired test and a plain sentence. Runs that
    differ by their seed alone are one side. Runs that do not share origins are refused.
    """
    from foible.files import write_whole
    from foible.report.comparison import compare as compared
    from foible.report.comparison_text import print_comparison
    from foible.store import open_run

    comparison = compared([open_run(folder) for folder in runs], correction=correction.value)
    if json is not None:
        write_whole(json, comparison.model_dump_json(indent=2) + "\n")
    if not quiet:
        print_comparison(comparison)
    return 0
