"""How a training goes: a bar on a terminal, a line per epoch or trial when piped, nothing when quiet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from foible.cli.terminal import console


@dataclass(frozen=True)
class Listener:
    """What a training or a tuning calls as it goes along."""

    epoch: Callable[[dict[str, float]], None] = lambda _: None
    advance: Callable[[float], None] = lambda _: None
    trial: Callable[[int, float | None], None] = lambda _number, _value: None


@contextmanager
def training_progress(quiet: bool, epochs: int, trials: int | None = None) -> Iterator[Listener]:
    """A listener for a training of so many epochs, or for a tuning of so many trials."""

    def epoch(figures: dict[str, float]) -> str:
        numbers = "  ".join(f"{k.replace('_', ' ')} {v:.4f}" for k, v in figures.items() if k != "epoch")
        return f"epoch {figures['epoch']:.0f}/{epochs}  {numbers}"

    def trial(number: int, value: float | None) -> str:
        return f"trial {number + 1}/{trials}  " + ("stopped early" if value is None else f"{value:.5f}")

    if quiet:
        yield Listener()
    elif sys.stderr.isatty():
        yield from _bar(epoch, trial)
    else:
        yield Listener(
            epoch=lambda figures: print(epoch(figures), file=sys.stderr),
            trial=lambda number, value: print(trial(number, value), file=sys.stderr),
        )


def _bar(epoch: Callable[[dict[str, float]], str], trial: Callable[[int, float | None], str]) -> Iterator[Listener]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task("training", total=1.0, note="")

        def ended(number: int, value: float | None) -> None:
            bar.console.print(trial(number, value), highlight=False)
            bar.reset(task)

        yield Listener(
            epoch=lambda figures: bar.update(task, note=epoch(figures)),
            advance=lambda share: bar.update(task, completed=share),
            trial=ended,
        )
