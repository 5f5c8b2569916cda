"""`foible benchmark`: a matrix of runs in one folder, and its tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foible.cli.options import Address, Attempts, Data, Device, Quiet, Seed, Set, WorkersOption, recipe_changes

if TYPE_CHECKING:
    from foible.benchmark.progress import Standing

LINE_SECONDS = 5.0


def benchmark(
    name: Annotated[
        str, typer.Argument(help="A benchmark: gift, models, searches, or a .toml file.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder [default: runs/<name>].", show_default=False)
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A part of the matrix: --only 'mnist-*' --only low. Repeatable.", show_default=False),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Repeat every cell with this many seeds.")] = 1,
    attempts: Attempts = None,
    seed: Seed = None,
    data: Data = None,
    device: Device = None,
    set_: Set = None,
    workers: WorkersOption = None,
    address: Address = None,
    list_: Annotated[bool, typer.Option("--list", help="Print the cells and run nothing.")] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="Write the tables of the runs that are there and run nothing.")
    ] = False,
    quiet: Quiet = False,
) -> int:
    """Run a matrix of recipes; the same command resumes it.

    Every cell is an ordinary run in a folder of its own. A cell that cannot run does not stop the others. Tables go to
    tables/ as Markdown, LaTeX and CSV, and to benchmark.html; they take each run as it is, whatever its attempts.
    """
    from foible.benchmark import load_matrix, run_benchmark, write_tables

    changes = recipe_changes(
        set_, attempts=attempts, seed=seed, data=data, device=device, workers=workers, address=address
    )
    matrix = load_matrix(name, changes, only or [], seeds)
    if list_:
        for cell in matrix.cells:
            print(f"{cell.name}  at most {cell.evaluations:,} evaluations")
        return 0
    folder = out or Path("runs") / matrix.name
    if tables:
        print(f"page {write_tables(matrix, folder)}")
        return 0
    ended = run_benchmark(matrix, folder, (lambda _: None) if quiet else _line(matrix.name))
    problems = {end.cell.name: end.problem or end.state for end in ended if end.state != "complete"}
    page = write_tables(matrix, folder, problems)
    if not quiet:
        print(
            f"{len(ended) - len(problems)} of {len(ended)} cells complete; tables in {folder / 'tables'}, page {page}"
        )
    for which, problem in problems.items():
        print(f"{which}: {problem}", file=sys.stderr)
    return 3 if problems else 0


def _line(name: str) -> Callable[[Standing], None]:
    """One line: rewritten in a terminal, now and then a new one in a pipe."""
    terminal, last = sys.stderr.isatty(), {"time": 0.0}

    def show(now: Standing) -> None:
        moment = time.monotonic()
        if moment - last["time"] < (0.2 if terminal else LINE_SECONDS):
            return
        last["time"] = moment
        text = how_far(name, now)
        print(f"\r\033[K{text}" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)

    return show


def how_far(name: str, now: Standing) -> str:
    """ "gift: 3/12 cells, gift-mnist-vae-low 40 %, 2 found, about 7 min left"."""
    left = f", about {_duration(now.seconds_left)} left" if now.seconds_left is not None else ""
    return f"{name}: {now.done}/{now.cells} cells, {now.cell} {100 * now.share:.0f} %, {now.found} found{left}"


def _duration(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} min" if hours < 2 else f"{hours:.0f} h"
