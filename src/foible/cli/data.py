"""`foible data`: which real images there are, where, and how to get those that are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.terminal import console
from foible.plain import plain


def ls() -> int:
    """Which images of the built-in domains are found, and where."""
    from rich.table import Table
    from rich.text import Text

    from foible.domains import load_domain
    from foible.domains.domain import domain_names
    from foible.domains.fetch import how_to_get, own_data_folder
    from foible.domains.sources import data_folders, where_images_are

    table = Table("domain", "images", "licence", box=None, pad_edge=False)
    for name in domain_names():
        domain = load_domain(name)
        where = where_images_are(domain)
        missing = where.startswith("none")
        table.add_row(
            *(Text(plain(t)) for t in (name, f"none: {how_to_get(domain)}" if missing else where, domain.licence))
        )
    console().print(table)
    folders = [str(p) for p in data_folders()]
    print(f"looked in: {', '.join(folders) or 'no folder'}; fetched images go to {own_data_folder()}")
    return 0


def get(
    domain: Annotated[str, typer.Argument(help="mnist, fashion, emnist, cifar10 or svhn.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder [default: $FOIBLE_DATA, or one of yours].", show_default=False),
    ] = None,
) -> int:
    """Download the images of a domain; what is downloaded is checked against a checksum."""
    from foible.domains import load_domain
    from foible.domains.fetch import fetch

    chosen = load_domain(domain)
    print(f"licence: {chosen.licence or 'not stated'}")
    print(f"written to {fetch(chosen, out)}")
    return 0


VERBS = (ls, get)
