"""Entry point: verbs, error messages and exit codes (0 fine, 1 gate failed, 2 wrong usage, 3 incomplete run)."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import typer

from foible.cli import (
    ambiguous,
    benchmark,
    check,
    compare,
    coverage,
    data,
    demo,
    diff,
    escapes,
    export,
    judge,
    labels,
    ls,
    migrate,
    replay,
    report,
    resume,
    run,
    strip,
    study,
    survey,
    test,
    train,
    ui,
    zoo,
)
from foible.cli import map as activation_map
from foible.cli.ask import commands
from foible.cli.memory import keep_freed_memory
from foible.cli.terminal import plain_streams
from foible.errors import FoibleError

_interrupted = threading.Event()
POOLED = ("ThreadPoolExecutor", "asyncio_")  # threads that end by themselves when the program does

app = typer.Typer(
    name="foible",
    help="Find realistic images on which an image classifier fails, and keep each one replayable.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def verb(function: Callable[..., int]) -> Callable[..., None]:
    """A verb for the command line: what it returns is the exit code, an error is a message and a hint."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> None:
        with plain_streams():
            code = _exit_code(lambda: function(*arguments, **options))
        raise typer.Exit(code)

    return wrapped


def _exit_code(act: Callable[[], int]) -> int:
    """What a verb gives; whatever stops it is said in words. 1 is the gate's alone."""
    try:
        return act()
    except FoibleError as error:
        if os.environ.get("FOIBLE_DEBUG"):
            raise
        print(f"error: {error.message}", file=sys.stderr)
        if choices := getattr(error, "choices", ()):
            print("hint:  say which it is:", *commands(choices, sys.argv[1:]), sep="\n         ", file=sys.stderr)
        elif error.hint:
            print(f"hint:  {error.hint}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: say nothing at the end either
        return 0
    except (Exception, KeyboardInterrupt, SystemExit) as error:
        if isinstance(error, KeyboardInterrupt) or _interrupted.is_set():
            print("stopped; the same command goes on where it was", file=sys.stderr)
            return 3
        return _unexpected(error)


def _unexpected(error: BaseException) -> int:
    """Say in one line what nobody foresaw: a defect of foible, or of code that the user brought."""
    if os.environ.get("FOIBLE_DEBUG"):
        raise error
    if isinstance(error, SystemExit):
        print(f"error: code that was loaded ended the program: SystemExit({error.code!r})", file=sys.stderr)
        print("hint:  a model or function must return, not exit", file=sys.stderr)
        return 2
    reason = (str(error).strip() or "no more is known").splitlines()[0][:300]
    print(f"error: unexpected {type(error).__name__}: {reason}", file=sys.stderr)
    print("hint:  see where it happened with: foible --debug ...", file=sys.stderr)
    return 2


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Remember that Ctrl-C was pressed: libraries that are just being loaded turn it into errors of their own."""
    _interrupted.set()
    raise KeyboardInterrupt


VERBS = (
    demo.demo,
    run.run,
    test.test,
    check.check,
    judge.judge,
    coverage.coverage,
    ambiguous.ambiguous,
    escapes.escapes,
    labels.labels,
    strip.strip,
    ls.ls,
    resume.resume,
    replay.replay,
    report.report,
    compare.compare,
    diff.diff,
    benchmark.benchmark,
    export.export,
    migrate.migrate,
    train.train,
    ui.ui,
)
for function in VERBS:
    app.command()(verb(function))
app.command("map")(verb(activation_map.map_))

surveys = typer.Typer(cls=survey.MakeByDefault, no_args_is_help=True, rich_markup_mode=None)
for name, act in survey.VERBS.items():
    surveys.command(name)(verb(act))
app.add_typer(surveys, name="survey", help="Ask people what they see: `survey RUN` makes a page.")

data_app = typer.Typer(
    help="Real images: what is found where (`data`), and fetching them (`data get cifar10`).",
    invoke_without_command=True,
)


@data_app.callback()
def _data(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        verb(data.ls)()


for of_the_data in data.VERBS:
    data_app.command()(verb(of_the_data))
app.add_typer(data_app, name="data")

studies = typer.Typer(help="Questions that several trainings answer: `study vae`.", no_args_is_help=True)
for name, act in study.VERBS.items():
    studies.command(name)(verb(act))
app.add_typer(studies, name="study")

zoo_app = typer.Typer(help="The models: their table, cards, figures and pictures.", no_args_is_help=True)
for of_the_zoo in zoo.VERBS:
    zoo_app.command()(verb(of_the_zoo))
app.add_typer(zoo_app, name="zoo")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"foible {version('foible')}")
        raise typer.Exit


@app.callback()
def _options(
    debug: bool = typer.Option(False, "--debug", help="Show the whole traceback of an error."),
    version: bool = typer.Option(  # noqa: ARG001
        False, "--version", "-V", help="Show the version and exit.", callback=_version, is_eager=True
    ),
) -> None:
    if debug:
        os.environ["FOIBLE_DEBUG"] = "1"


def main() -> None:
    """Run the command line."""
    # Threads that spin while they wait slow torch down tenfold as soon as another program wants the CPU; threads that
    # sleep cost nothing on a quiet machine. Set here, before torch is loaded, and not for programs that import foible.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    keep_freed_memory()
    signal.signal(signal.SIGINT, _interrupt)
    with contextlib.suppress(OSError, ValueError):  # where standard error is no file
        faulthandler.enable()  # a crash of native code is not silent
    code: Any = 0
    before = set(threading.enumerate())
    with plain_streams():
        try:
            app()
        except SystemExit as end:
            code = end.code
        _leave(code, before)


def _leave(code: Any, before: set[threading.Thread]) -> NoReturn:
    """End now: threads that a model or function has left behind are not waited for."""
    left = [t for t in threading.enumerate() if t not in before and not t.daemon and not t.name.startswith(POOLED)]
    sys.stdout.flush()
    sys.stderr.flush()
    if not left:
        sys.exit(code)
    print(f"{len(left)} threads that were left running are ended", file=sys.stderr, flush=True)
    atexit._run_exitfuncs()  # scratch folders and worker processes still go
    os._exit(code if isinstance(code, int) else 2)
