"""`foible escapes`: from which class to which other does a run lead, how often and how far?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import RunArgument, Trust, with_trust


def escapes(
    run: RunArgument,
    within: Annotated[
        float | None, typer.Option(help="Count only escapes of at most this latent distance.", show_default=False)
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option(help="Count only escapes found in at most so many evaluations.", show_default=False)
    ] = None,
    html: Annotated[Path | None, typer.Option(help="A page with an example per cell.", show_default=False)] = None,
    confusion: Annotated[
        bool, typer.Option(help="Show the confusions on real images beside it: asks the classifier once.")
    ] = True,
    json: Annotated[Path | None, typer.Option(help="The same for other programs.", show_default=False)] = None,
    trust: Trust = False,
) -> int:
    """Show the class-escape matrix of a run that aims at classes (`foible run escapes` makes one)."""
    from json import dumps

    from foible.borders.confusion import confusion as confusion_of
    from foible.borders.escapes import escapes as matrix_of
    from foible.borders.pages import as_facts, as_page, as_text
    from foible.store import open_run

    opened = open_run(run)
    matrix = matrix_of(opened, within, evaluations)
    beside = with_trust(lambda trust: confusion_of(opened, trust), trust) if confusion else None
    print(as_text(matrix, beside))
    if html:
        html.write_text(as_page(matrix, opened, beside))
    if json:
        json.write_text(dumps(as_facts(matrix, beside), indent=1) + "\n")
    return 0
