"""`foible survey`: ask people what they see in findings, take their answers back, say what they mean."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from foible.cli.options import Data, RunArgument


class MakeByDefault(TyperGroup):
    """`foible survey RUN` is `foible survey make RUN`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `make` in front, unless the first word is a verb or asks for help."""
        if args and args[0] not in {*self.commands, "-h", "--help"}:
            args = ["make", *args]
        return super().parse_args(ctx, args)


class Order(StrEnum):
    """Which findings to ask about first."""

    UNSURE = "unsure"
    SHUFFLED = "shuffled"


def make(
    run: RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The page [default: RUN/survey.html or RUN/ratings.html].", show_default=False
        ),
    ] = None,
    images: Annotated[int, typer.Option(min=1, help="How many failures to show at most.")] = 100,
    checks: Annotated[
        int | None,
        typer.Option(min=0, help="Real images mixed in as attention checks [default: 10 %].", show_default=False),
    ] = None,
    order: Annotated[
        Order,
        typer.Option(help="unsure: the closest calls of the judge, no fair sample; shuffled: a random sample."),
    ] = Order.UNSURE,
    margin: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Say how many images a share needs for this margin.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choice and the order.")] = 0,
    data: Data = None,
    ratings: Annotated[
        bool,
        typer.Option("--ratings", help="Ask how much (1 to 5) it looks like the expected class and the predicted one."),
    ] = False,
    controls: Annotated[
        bool,
        typer.Option("--controls", help="With --ratings: show each starting image too, as the generator makes it."),
    ] = False,
) -> int:
    """Make a page on which people say what they see.

    The page is one file that needs nothing but a browser. `foible survey RUN` is short for this.
    """
    from foible.metrics import needed
    from foible.store import open_run
    from foible.survey import make_survey

    opened = open_run(run)
    made = make_survey(
        opened,
        out or run / ("ratings.html" if ratings else "survey.html"),
        images,
        checks,
        order.value,
        seed,
        data,
        ratings,
        controls,
    )
    found = len(opened.index())
    shown = f"{made.images} of {found} failures{' with their starting images' if controls else ''}"
    print(f"{made.page}: {shown} and {made.checks} attention checks, survey {made.name}")
    if not ratings:
        print(
            f"for a share of all {found} failures within ±{100 * margin:g} % (95 %), show {needed(margin, found)} of "
            "them at random: --order shuffled"
        )
    print(f"send the page to people; then: foible survey import {run} answers.csv")
    return 0


def import_answers(
    run: RunArgument,
    files: Annotated[list[Path], typer.Argument(help="Files that the page has downloaded.", show_default=False)],
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Keep people who fail the attention checks.")] = False,
) -> int:
    """Take people's answers into a run.

    All lines of all files are checked first; if one is wrong, nothing is stored.
    """
    from foible.report.wording import of, percent, plural
    from foible.store import open_run
    from foible.survey import collect

    for person in collect(open_run(run), files, keep_all):
        attention = f"attention checks {of(person.checks)} ({percent(person.checks.share)})"
        attention = attention if person.checks.total else "no attention checks"
        again = f" ({person.replaced} replace earlier ones)" if person.replaced and person.taken else ""
        outcome = "taken" if person.taken else "LEFT OUT (--keep-all keeps them)"
        print(f"{person.person}: {plural(person.answers, 'answer')} {outcome}{again}, {attention}")
    return 0


def report(
    run: RunArgument,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    recalibrate: Annotated[
        Path | None, typer.Option(help="Fit the judge's thresholds to people; write this TOML.", show_default=False)
    ] = None,
    validator: Annotated[str, typer.Option(help="Whose thresholds to fit.")] = "judge",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
) -> int:
    """Say what people see and how far they agree.

    Validators are scored against the majority of people; ratings of two classes have a part of their own. --recalibrate writes thresholds that the judge can use.
    """
    from foible.store import open_run
    from foible.survey.recalibrate import recalibrated
    from foible.survey.report import people_report
    from foible.survey.text import calibration_lines, report_lines

    opened = open_run(run)
    said = people_report(opened, seed)
    print(said.model_dump_json(indent=2) if json else "\n".join(report_lines(said)))
    if recalibrate is not None:
        fitted = recalibrated(opened, validator)
        fitted.calibration.save(recalibrate)
        if not json:
            print("\n".join(["", *calibration_lines(fitted, recalibrate)]))
    return 0


def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Runs of different methods from the same starting images.", show_default=False)
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
) -> int:
    """Say by people's ratings which method confuses them most, origin by origin.

    Controls (the plain reconstruction of an origin) stand beside the methods where people have rated them.
    """
    from foible.store import open_run
    from foible.survey.methods import compare_methods, method_lines

    said = compare_methods([open_run(run) for run in runs], seed)
    print(said.model_dump_json(indent=2) if json else "\n".join(method_lines(said)))
    return 0


VERBS: dict[str, Callable[..., int]] = {"make": make, "import": import_answers, "report": report, "compare": compare}
