"""`foible map`: where the images on the border of two classes lie among what a classifier shows of the classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import RunArgument, Trust, with_trust


def map_(
    run: RunArgument,
    pair: Annotated[tuple[str, str], typer.Option(help="Two classes.", show_default=False)],
    svg: Annotated[
        Path | None, typer.Option(help="Write the picture to a page of its own too.", show_default=False)
    ] = None,
    trust: Trust = False,
) -> int:
    """Map the activations of two classes and the images between them; the report of the run shows it."""
    from foible.borders.activation_map import activation_map
    from foible.borders.ambiguous import class_pair
    from foible.borders.parts import keep_map, map_svg
    from foible.campaign.replay import reassembled
    from foible.files import write_whole
    from foible.store import open_run

    opened = open_run(run)
    two = class_pair(pair, opened.classes)
    campaign = with_trust(lambda trust: reassembled(opened, trust=trust), trust)
    found = activation_map(opened, campaign, two)
    kept = keep_map(opened, found)
    if svg:
        head = "<!doctype html><html lang='en'><meta charset='utf-8'><title>Activations</title>"
        write_whole(svg, f"{head}{map_svg(found, opened.classes)}</html>\n")
    share = found.between
    print(f"{share.count} of {share.total} border images lie between the middles of the clouds ({found.layer})")
    print(f"{kept}: foible report {run} shows it")
    return 0
