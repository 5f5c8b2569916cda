"""`foible ui`: the workbench in a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from foible.errors import FoibleError, MissingExtra


def ui(
    host: Annotated[
        str, typer.Option(help="Where to listen; anything but this machine needs a password.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 picks a free one.")] = 7860,
    runs: Annotated[Path, typer.Option(help="The folder with all runs.")] = Path("runs"),
    password: Annotated[
        str | None,
        typer.Option(envvar="FOIBLE_PASSWORD", help="Ask for this password; better set as a variable than typed."),
    ] = None,
    share: Annotated[bool, typer.Option("--share", help="A public link too; needs a password.")] = False,
    generator: Annotated[
        list[Path] | None,
        typer.Option(help="Offer this generator too: a .safetensors file. Repeatable.", show_default=False),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(help="Offer this domain too: its TOML file or folder of images. Repeatable.", show_default=False),
    ] = None,
    search: Annotated[
        list[str] | None, typer.Option(help="Offer this search too: file.py:Name. Repeatable.", show_default=False)
    ] = None,
    objective: Annotated[
        list[str] | None, typer.Option(help="Offer this objective too: file.py:Name. Repeatable.", show_default=False)
    ] = None,
    oracle: Annotated[
        list[str] | None, typer.Option(help="Offer this oracle too: file.py:Name. Repeatable.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The folder with real images of the domains [default: look around].", show_default=False),
    ] = None,
    largest_upload: Annotated[int, typer.Option(help="Largest upload in MB.")] = 1000,
) -> int:
    """Open the workbench in a browser.

    Runs started there are ordinary runs: they go on when the page is closed, and every other verb works on them.
    """
    try:
        from foible.ui.app import Settings
        from foible.ui.server import serve
    except ImportError as error:
        if error.name and error.name.startswith("foible"):
            raise
        raise MissingExtra(error.name or "starlette", "ui", "the workbench") from None

    if data is not None:
        if not data.is_dir():
            raise FoibleError(f"there is no folder '{data}'", "foible data ls says where images are looked for")
        os.environ["FOIBLE_DATA"] = str(data.resolve())  # for this workbench and the runs it starts
    own_generators, own_domains = tuple(generator or ()), tuple(domain or ())
    parts = tuple((k, tuple(v or ())) for k, v in (("search", search), ("objective", objective), ("oracle", oracle)))
    serve(Settings(runs, host, password, largest_upload * 1_000_000, share, own_generators, own_domains, parts), port)
    return 0
