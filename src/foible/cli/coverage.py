"""`foible coverage`: which internal behaviours of a classifier do some images exercise?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foible.cli.options import Data, recipe_changes


def coverage(
    model: Annotated[
        str, typer.Argument(help="The classifier: zoo name, model file, hub name or file.py:Name.", show_default=False)
    ],
    domain: Annotated[str, typer.Option(help="What it is for: a domain's name, TOML file or folder of images.")],
    images: Annotated[
        Path | None,
        typer.Option(
            help="The suite: a folder, npz or picture [default: the domain's test images].", show_default=False
        ),
    ] = None,
    against: Annotated[Path | None, typer.Option(help="Another suite to compare it with.", show_default=False)] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            help="A run to measure: its failures with their starting images, and these alone. Repeatable.",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    criteria: Annotated[str, typer.Option(help="Names joined by commas (foible ls coverage), or all.")] = "all",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of a criterion: --set kmnc.k=1000. Repeatable.", show_default=False),
    ] = None,
    layers: Annotated[
        str | None, typer.Option(help="Layers joined by commas [default: found].", show_default=False)
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(help="Layers by which surprise is measured [default: the last but one].", show_default=False),
    ] = None,
    where: Annotated[str, typer.Option(help="Values before or after the activation function: pre, post.")] = "pre",
    unit: Annotated[str, typer.Option(help="What counts as a unit: channel, element.")] = "channel",
    profile: Annotated[Path | None, typer.Option(help="A saved profile of this model.", show_default=False)] = None,
    profile_count: Annotated[int, typer.Option(help="The most images to fit a profile on.", min=1)] = 10_000,
    prioritise: Annotated[bool, typer.Option("--prioritise", help="Order the suite, with DeepGini beside it.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Where profile, figures and page go [default: coverage/<model>].", show_default=False
        ),
    ] = None,
) -> int:
    """Measure which internal behaviours of a classifier a suite of images exercises.

    This describes a suite; it is not evidence that the classifier is correct or robust.
    """
    from foible.measuring.command import Request, measure, write
    from foible.measuring.runs import aims_text

    request: dict[str, Any] = {
        "criteria": _names(criteria),
        "layers": _names(layers),
        "trace": _names(trace),
        "settings": _settings(set_),
    }
    outcome = measure(
        Request(
            model, domain, images, against, data, profile, profile_count,
            where=where, unit=unit, prioritise=prioritise, runs=runs or (), **request,  # type: ignore[arg-type]
        )
    )  # fmt: skip
    page = write(outcome, out or Path("coverage") / outcome.measurement.model)
    _show(outcome)
    for line in aims_text(runs or ()):
        print(line)
    print(f"page: {page}")
    return 0


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _settings(pairs: list[str] | None) -> dict[str, dict[str, Any]]:
    """`kmnc.k=1000` as {"kmnc": {"k": 1000}}."""
    from foible.errors import RecipeError

    settings: dict[str, dict[str, Any]] = {}
    for key, value in recipe_changes(pairs).items():
        name, dot, parameter = key.partition(".")
        if not dot:
            raise RecipeError(f"--set {key}={value} names no criterion", "for example --set kmnc.k=1000")
        settings.setdefault(name, {})[parameter] = value
    return settings


def _show(outcome: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    from foible.measuring import text

    console, measurement = Console(), outcome.measurement
    tables = [text.suite_table(measurement, short=True), text.layer_table(measurement, measurement.suites[0])]
    if outcome.orders is not None:
        tables.append(text.order_table(outcome.orders))
    console.print(measurement.meaning)
    console.print(measurement.scope)
    for suite in measurement.suites:
        console.print(text.beside(suite))
    for head, rows in tables:
        console.print()
        table = Table(*head, box=None, pad_edge=False)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for name, why in measurement.left_out.items():
        console.print(f"{name} was left out: {why}")
