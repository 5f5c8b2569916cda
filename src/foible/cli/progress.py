"""Progress that can be read and silenced: a bar on a terminal, a line now and then when piped, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from foible.cli.terminal import console

if TYPE_CHECKING:
    from foible.campaign.run import Progress

LINE_SECONDS = 5.0


@contextmanager
def run_progress(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A listener for a campaign."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        yield from _bars()
    else:
        yield from _lines()


def _bars() -> Iterator[Callable[[Progress], None]]:
    from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    words = (TextColumn("{task.description:>9}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Bars(*words, TimeElapsedColumn(), TimeRemainingColumn(), console=console(stderr=True)) as bars:
        tasks: dict[str, tuple[TaskID, float]] = {}

        def listen(progress: Progress) -> None:
            if progress.arm not in tasks:
                tasks[progress.arm] = (bars.add_task(progress.arm, total=1.0, note=""), time.monotonic())
            task, begin = tasks[progress.arm]
            bars.update(task, completed=progress.share, note=_note(progress, time.monotonic() - begin))

        yield listen


def _lines() -> Iterator[Callable[[Progress], None]]:
    begin: dict[str, float] = {}
    last = {"time": 0.0}

    def listen(progress: Progress) -> None:
        now = time.monotonic()
        elapsed = now - begin.setdefault(progress.arm, now)
        if now - last["time"] >= LINE_SECONDS or progress.done == progress.attempts:
            last["time"] = now
            left = elapsed * (1 - progress.share) / progress.share if progress.share else 0.0
            ahead = f", about {left:.0f} s left" if left >= 1 else ""
            print(f"{progress.arm}: {_note(progress, elapsed)}{ahead}", file=sys.stderr)

    yield listen


def _note(progress: Progress, elapsed: float) -> str:
    rate = f", {progress.evaluations / elapsed:,.0f} evaluations/s" if elapsed > 0 else ""
    return f"{progress.done}/{progress.attempts} attempts, {progress.found} found{rate}"
