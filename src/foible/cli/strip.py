"""`foible strip`: what lies between two images, through a latent space and through pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import ClassifierOption, Data, Generator, Quiet
from foible.errors import RecipeError


def strip(
    first: Annotated[str, typer.Argument(help="An image file, or a class and a number: 4:0.", show_default=False)],
    second: Annotated[str, typer.Argument(help="The other end.", show_default=False)],
    domain: Annotated[str, typer.Option(help="A domain's name, TOML file or folder of images.")] = "mnist",
    steps: Annotated[int, typer.Option(help="Frames of a row, both ends included.")] = 6,
    classifier: ClassifierOption = None,
    generator: Generator = None,
    data: Data = None,
    run: Annotated[
        Path | None, typer.Option(help="Keep it with this run: its report shows it.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="A page (.html) or a picture (.png).")] = Path("strip.html"),
    quiet: Quiet = False,
) -> int:
    """Show what lies between two images: a row through the latent space, a row through pixels."""
    import torch

    from foible.borders.parts import keep_strip, strip_html
    from foible.borders.strip import image_by_name, sheet
    from foible.borders.strip import strip as between
    from foible.domains import load_domain, real_images
    from foible.files import write_whole
    from foible.images import png_bytes
    from foible.store import open_run
    from foible.zoo import resolve

    about = load_domain(domain)
    real = real_images(about, data, "test")
    parts = {"generators": generator or about.generator, "classifiers": classifier or about.classifier}
    for heading, name in parts.items():
        if not name:
            part = heading.removesuffix("s")
            raise RecipeError(f"domain '{domain}' has no {part} of its own", f"name one with --{part}")
    if out.suffix not in {".html", ".png"}:
        raise RecipeError(f"--out '{out}' is neither a page nor a picture", "end it in .html or .png")
    maker, asked = (resolve(heading, str(name), {}, about, real).model for heading, name in parts.items())
    ends = torch.stack([image_by_name(name, about, real) for name in (first, second)])
    found = between(maker, asked, ends, steps=steps)
    if out.suffix == ".png":
        write_whole(out, png_bytes(sheet(found)))
    else:
        head = "<!doctype html><html lang='en'><meta charset='utf-8'><title>Between two images</title>"
        write_whole(out, f"{head}{strip_html(found, about.classes)}</html>\n")
    if run:
        keep_strip(open_run(run), found, f"{_plain(first)}-{_plain(second)}")
    if not quiet:
        for name, row in (("latent", found.latent), ("pixels", found.pixels)):
            print(f"{name}: " + ", ".join(about.classes[c] for c in row.predicted.tolist()))
        print(out)
    return 0


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in Path(name).stem)[:40]
