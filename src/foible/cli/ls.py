"""`foible ls`: what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foible.cli.terminal import console
from foible.errors import FoibleError, RecipeError, did_you_mean
from foible.plain import plain
from foible.registry import BUILT_IN

WHAT = ("recipes", "benchmarks", "zoo", "domains", *BUILT_IN, "runs")


HEADINGS = {"zoo": ("model", "domain", "family", "purpose", "weights", "size", "parameters", "figures", "licence")}


def ls(
    what: Annotated[str, typer.Argument(help=f"One of: {', '.join(WHAT)}.")] = "recipes",
    name: Annotated[
        str | None, typer.Argument(help="Print this recipe as a file of its own, or the parameters of this part.")
    ] = None,
) -> int:
    """List recipes, models, domains, parts, runs; print one recipe, or what can be set about one part.

    A part is named as in a recipe, also one in a file: `foible ls searches my_search.py:MySearch`.
    """
    if what not in WHAT:
        raise RecipeError(f"cannot list '{what}'", did_you_mean(what, WHAT))
    if name is not None:
        return _part(what, name) if what in BUILT_IN else _recipe(what, name)
    rows = {"recipes": _recipes, "benchmarks": _benchmarks, "zoo": _zoo, "domains": _domains, "runs": _runs}.get(
        what, lambda: _table(what)
    )()
    from rich.table import Table
    from rich.text import Text

    table = Table(*HEADINGS.get(what, ()), box=None, show_header=what in HEADINGS, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console().print(table if rows else f"no {what} yet")
    return 0


def _recipes() -> list[tuple[str, ...]]:
    from foible.campaign import load_recipe, recipe_names

    return [(name, load_recipe(name).title) for name in recipe_names()]


def _benchmarks() -> list[tuple[str, ...]]:
    from foible.benchmark import load_matrix, matrix_names

    found = map(load_matrix, matrix_names())
    return [(matrix.name, matrix.title, f"{len(matrix.cells)} cells") for matrix in found]


def _recipe(what: str, name: str) -> int:
    import tomli_w

    from foible.campaign.built_in import built_in_recipe, recipe_names

    if what != "recipes":
        raise RecipeError(
            f"cannot print one of the {what}", "only recipes and parts are printed; a model's card: foible zoo show"
        )
    if name not in recipe_names():
        raise RecipeError(f"no recipe '{name}'", did_you_mean(name, recipe_names()))
    print(tomli_w.dumps(built_in_recipe(name)), end="")
    return 0


def _zoo() -> list[tuple[str, ...]]:
    from foible.zoo.table import zoo_rows

    rows: list[tuple[str, ...]] = []
    for row in zoo_rows():
        size = f"{row.megabytes:.2f} MB" if row.megabytes else ""
        parameters = f"{row.parameters:,}" if row.parameters else ""
        here = "here" if row.installed else "not installed"
        rows.append((row.name, row.domain, row.family, row.purpose, here, size, parameters, row.figures, row.licence))
    return rows


def _domains() -> list[tuple[str, ...]]:
    from foible.domains import domain_names, load_domain, where_images_are

    rows: list[tuple[str, ...]] = []
    for domain in map(load_domain, domain_names()):
        size, count = "x".join(map(str, domain.shape)), f"{len(domain.classes)} classes"
        rows.append((domain.name, domain.title, size, count, f"images: {where_images_are(domain)}"))
    return rows


def _runs() -> list[tuple[str, ...]]:
    from foible.store import open_run

    rows: list[tuple[str, ...]] = []
    for manifest in sorted(Path("runs").glob("*/manifest.json")):
        try:
            ended = list((run := open_run(manifest.parent)).outcomes())
        except FoibleError as error:
            rows.append((str(manifest.parent), error.message, "", error.hint))
            continue
        found = sum(outcome.findings for outcome in ended)
        rows.append((str(manifest.parent), run.state, f"{len(ended)} attempts", f"{found} failures"))
    return rows


def _table(what: str) -> list[tuple[str, ...]]:
    from foible.parameters import components

    return [(component.name, component.title) for component in components(what)]


def _part(what: str, name: str) -> int:
    """What a part is, and what can be set about it."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from foible.parameters import component

    found = component(what, name)
    Console().print(f"{found.title or found.name}.", markup=False, highlight=False)
    if not found.parameters:
        Console().print("It has no parameters.")
        return 0
    table = Table("parameter", "kind", "default", "explanation", box=None, pad_edge=False)
    for p in found.parameters:
        default = "needed" if p.required else p.write(p.default)
        table.add_row(*(escape(text) for text in (p.name, p.shape, default, p.about)))
    Console().print(table)
    return 0
