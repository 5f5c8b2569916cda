"""Entry point: verbs, error messages and exit codes (0 fine, 1 gate failed, 2 wrong usage, 3 incomplete run)."""

from __future__ import annotations

import os
import sys

import click
import typer

from foible.cli import check, demo, export, ls, replay, report, resume, run, train
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
for verb in (
    demo.demo,
    run.run,
    check.check,
    ls.ls,
    resume.resume,
    replay.replay,
    report.report,
    export.export,
    train.train,
):
    app.command()(verb)


@app.callback()
def _options(debug: bool = typer.Option(False, "--debug", help="Show the whole traceback of an error.")) -> None:
    if debug:
        os.environ["FOIBLE_DEBUG"] = "1"


def main() -> None:
    """Run the command line; errors become a message and a hint, never a traceback (unless --debug)."""
    try:
        code = app(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.exceptions.Abort:
        _say("stopped")
        code = 3
    except FoibleError as error:
        if os.environ.get("FOIBLE_DEBUG"):
            raise
        _say(f"error: {error.message}")
        if error.hint:
            _say(f"hint:  {error.hint}")
        code = error.exit_code
    except KeyboardInterrupt:
        _say("stopped; the same command goes on where it was")
        code = 3
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _say(text: str) -> None:
    print(text, file=sys.stderr)
