"""`foible zoo`: the models that come with foible and those of one's own zoo, their cards and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.options import Data
from foible.cli.terminal import console
from foible.plain import plain

Model = Annotated[str, typer.Argument(help="A zoo name (see `foible ls zoo`).", show_default=False)]
ModelOrFile = Annotated[str, typer.Argument(help="A zoo name, or a model file with its card.", show_default=False)]


def table(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a Markdown table.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with plain numbers.")] = False,
) -> int:
    """Latent size, training time, inference time and usable starting images of every generator."""
    from foible.zoo.table import generator_rows, generator_table
    from foible.zoo.table import markdown as as_markdown

    rows = generator_rows()
    if json:
        from dataclasses import asdict
        from json import dumps

        print(dumps([asdict(row) for row in rows], indent=1))
    elif markdown:
        print(as_markdown(generator_table(rows)))
    else:
        from rich.table import Table
        from rich.text import Text

        heading, *lines = generator_table(rows)
        shown = Table(*heading, box=None, pad_edge=False)
        for line in lines:
            shown.add_row(*(Text(plain(cell)) for cell in line))
        console().print(shown)
    return 0


def show(name: Model) -> int:
    """The whole card of a model, and where its weights are."""
    from foible.errors import ModelError
    from foible.zoo import entry

    card = entry(name)
    try:
        print(f"# weights: {card.path()}\n# card: {card.card}")
    except ModelError as error:
        print(f"# {error.message}\n# {error.hint}\n# card: {card.card}")
    print(card.card.read_text().rstrip())
    return 0


def appraise(
    model: ModelOrFile,
    data: Data = None,
    images: Annotated[int, typer.Option(min=2, help="How many images a generator makes for it.")] = 2000,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A part of it: time, images, judge or inversion. Repeatable.", show_default=False),
    ] = None,
) -> int:
    """Measure a model again and write the figures into its card."""
    from foible.errors import RecipeError, did_you_mean
    from foible.training.appraise import PARTS
    from foible.training.appraise import appraise as measure

    if unknown := [part for part in only or () if part not in PARTS]:
        raise RecipeError(f"an appraisal has no part '{unknown[0]}'", did_you_mean(unknown[0], PARTS))
    path, card = _files(model)
    appraisal = measure(path, data, images, card, [part for part in PARTS if part in (only or ())])
    for name, value in appraisal.figures.items():
        print(f"{name.replace('_', ' '):<24} {value:.5g}")
    for name, fact in appraisal.measured.items():
        print(f"{name.replace('_', ' '):<24} {', '.join(fact) if isinstance(fact, list) else fact}")
    return 0


def sheet(
    model: ModelOrFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The PNG file [default: NAME.png].", show_default=False)
    ] = None,
    data: Data = None,
) -> int:
    """Draw a contact sheet of a generator: one row per class."""
    import tomllib

    from foible.domains import load_domain, real_images
    from foible.faces import prefers_real
    from foible.training.sheet import contact_sheet
    from foible.zoo import load_model

    path, card = _files(model)
    generator = load_model(path, "generators", path.stem)
    domain = load_domain(tomllib.loads(card.read_text())["recipe"]["domain"])
    real = real_images(domain, data, "test") if prefers_real(generator) else None
    print(contact_sheet(generator, len(domain.classes), out or Path(f"{path.stem}.png"), real=real))
    return 0


def add(
    folder: Annotated[Path, typer.Argument(help="A folder with a model's files.", show_default=False)],
    name: Annotated[
        str | None, typer.Option(help="What to call it [default: as the folder].", show_default=False)
    ] = None,
    domain: Annotated[str, typer.Option(help="What its images are of.")] = "imagenet",
    licence: Annotated[str, typer.Option(help="The licence of its makers.", show_default=False)] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting of its family: --set images=photographs. Repeatable.", show_default=False
        ),
    ] = None,
) -> int:
    """Give a big model in a folder of yours a name that recipes understand: autoencoder, BigGAN, Stable Diffusion."""
    from foible.cli.options import recipe_changes
    from foible.zoo.local import add as register

    card = register(folder, name, domain, recipe_changes(settings), licence)
    print(f"{card}: use it as generator = '{card.stem}'")
    return 0


def _files(model: str) -> tuple[Path, Path]:
    """The weights file and the card of a zoo name or of a model file."""
    from foible.errors import ModelError
    from foible.zoo import entry

    if not model.endswith(".safetensors"):
        card = entry(model)
        if card.settings is not None:
            raise ModelError(f"'{model}' is a model in a folder", "its figures are measured by foible zoo add")
        return card.path(), card.card
    path = Path(model)
    if not path.with_suffix(".toml").is_file():
        raise ModelError(f"'{path}' has no card beside it", f"expected {path.with_suffix('.toml')}")
    return path, path.with_suffix(".toml")


VERBS = (table, show, appraise, sheet, add)
