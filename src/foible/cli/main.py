"""Entry point: verbs, error messages and exit codes (0 fine, 1 gate failed, 2 wrong usage, 3 incomplete run)."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from foible.cli import (
    check,
    compare,
    demo,
    export,
    judge,
    ls,
    migrate,
    replay,
    report,
    resume,
    run,
    survey,
    test,
    train,
    ui,
    zoo,
)
from foible.errors import FoibleError

app = typer.Typer(
    name="foible",
    help="Find realistic images on which an image classifier fails, and keep each one replayable.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def verb(function: Callable[..., int]) -> Callable[..., None]:
    """A verb for the command line: what it returns is the exit code, an error is a message and a hint."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> None:
        try:
            code = function(*arguments, **options)
        except FoibleError as error:
            if os.environ.get("FOIBLE_DEBUG"):
                raise
            print(f"error: {error.message}", file=sys.stderr)
            if error.hint:
                print(f"hint:  {error.hint}", file=sys.stderr)
            code = error.exit_code
        except KeyboardInterrupt:
            print("stopped; the same command goes on where it was", file=sys.stderr)
            code = 3
        raise typer.Exit(code)

    return wrapped


VERBS = (
    demo.demo,
    run.run,
    test.test,
    check.check,
    judge.judge,
    ls.ls,
    resume.resume,
    replay.replay,
    report.report,
    compare.compare,
    export.export,
    migrate.migrate,
    train.train,
    ui.ui,
)
for function in VERBS:
    app.command()(verb(function))

surveys = typer.Typer(cls=survey.MakeByDefault, no_args_is_help=True, rich_markup_mode=None)
for name, act in survey.VERBS.items():
    surveys.command(name)(verb(act))
app.add_typer(surveys, name="survey", help="Ask people what they see: `survey RUN` makes a page.")

zoo_app = typer.Typer(help="The models: their table, cards, figures and pictures.", no_args_is_help=True)
for of_the_zoo in zoo.VERBS:
    zoo_app.command()(verb(of_the_zoo))
app.add_typer(zoo_app, name="zoo")


@app.callback()
def _options(debug: bool = typer.Option(False, "--debug", help="Show the whole traceback of an error.")) -> None:
    if debug:
        os.environ["FOIBLE_DEBUG"] = "1"


def main() -> None:
    """Run the command line."""
    # Threads that spin while they wait slow torch down tenfold as soon as another program wants the CPU; threads that
    # sleep cost nothing on a quiet machine. Set here, before torch is loaded, and not for programs that import foible.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    app()
