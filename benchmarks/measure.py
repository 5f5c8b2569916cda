"""What the benchmarks share: the MNIST campaign, a clock, and where results are written."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from foible.campaign import Campaign, assemble, load_recipe

RESULTS = Path(__file__).parent / "results.json"


def mnist_campaign(extent: str = "high", **changes: Any) -> Campaign:
    """The published MNIST x VAE setting on the models of the zoo, with a measured chunk; without judge and steadiness, which the published loop lacks."""
    plain = {"baseline.attempts": 0, "validators": [], "steadiness": False, "engine.chunk": "auto"}
    return assemble(load_recipe(f"gift-mnist-vae-{extent}", plain | changes))


def seconds(function: Callable[[], Any]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def in_turns(tasks: dict[str, Callable[[], Any]], repeats: int) -> dict[str, Any]:
    """Seconds of each task, taking turns so that a busy moment falls on all of them; a first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            taken = seconds(task)
            if turn:
                times[name].append(taken)
    return {
        name: {
            "median": round(statistics.median(all_), 5),
            "range": [round(min(all_), 5), round(max(all_), 5)],
            "all": all_,
        }
        for name, all_ in times.items()
    }


def new_folder() -> Path:
    """A folder of its own for one run, gone when the benchmark is over and not before.

    A file system without a journal passes over all that was deleted in the last minutes whenever it makes a file: after a few
    thousand deletions a file takes twenty times as long. Runs that follow each other are not to pay for that.
    """
    return Path(tempfile.mkdtemp(dir=_scratch().name))


@lru_cache(maxsize=1)
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="foible-benchmark-")


def write(name: str, figures: dict[str, Any], quiet: bool = False) -> None:
    """Print figures, unless all is to be quiet, and keep them beside the others."""
    known = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    known[name] = figures | {"threads": torch.get_num_threads(), "torch": torch.__version__}
    RESULTS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    if not quiet:
        print(name, json.dumps(figures, indent=2))
