"""What Ray workers are worth, and the constants from which docs/scale.md works out large runs.

Two workers of one thread against one such worker, on the same campaigns, processes started and torch imported beforehand;
the findings must be the same, bit for bit. Once by the clock, and once by the processor time of whoever worked longest, which
other programs on the machine do not stretch. Beside it what the machine itself gives to two processes that run the bare
networks without Ray: no scheduler can do better. Then: what the one process that writes can take.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from foible.campaign import Campaign, assemble, load_recipe
from foible.campaign import run as run_campaign
from foible.campaign.estimate import evaluations_per_second
from foible.campaign.events import Ended, Found
from foible.campaign.recorder import Recorder
from foible.campaign.workers import workers_of
from foible.store import Run, RunWriter, open_run
from foible.types import Arm
from measure import write

RECIPES = ("gift-svhn-gan-high",)
ROUND = 16  # findings that come together


def campaign(recipe: str, attempts: int, workers: int) -> Campaign:
    plain = {"baseline.attempts": 0, "attempts": attempts, "engine.workers": workers, "engine.threads": 1}
    return assemble(load_recipe(recipe, plain))


def timed(recipes: Sequence[str], attempts: int, workers: int, folder: Path) -> dict[str, float]:
    """Seconds of the start, of the runs, of this process's own work in them, and of the busiest worker's."""
    few = campaign(recipes[0], 4 * workers, workers)
    times = {"start": -time.perf_counter(), "run": 0.0, "own": 0.0, "busiest": 0.0}
    with workers_of(few.recipe.engine, 1) as hands:
        run_campaign(few, folder / f"warm-{workers}", workers=hands)
        times["start"] += time.perf_counter()
        for recipe in recipes:
            whole = campaign(recipe, attempts, workers)
            begin, own, used = time.perf_counter(), time.process_time(), processor_times(hands)
            run_campaign(whole, folder / f"{workers}" / recipe, workers=hands)
            times["run"] += time.perf_counter() - begin
            times["own"] += time.process_time() - own
            times["busiest"] += max(b - a for a, b in zip(used, processor_times(hands), strict=True))
            print(workers, recipe, times, flush=True)
    return times


def processor_times(hands: Any) -> list[float]:
    """Processor seconds of each worker since it was started."""
    return hands.ray.get([hand.__ray_call__.remote(lambda _: time.process_time()) for hand in hands.hands])


def bare(seconds: float, told: Any) -> None:
    """Evaluations per second of the bare networks in this process."""
    torch.set_num_threads(1)
    told.put(evaluations_per_second(campaign(RECIPES[0], 1, 0), seconds))


def machine(processes: int, seconds: float = 6.0) -> float:
    """What so many processes reach together."""
    context = get_context("spawn")
    told = context.Queue()
    started = [context.Process(target=bare, args=(seconds, told)) for _ in range(processes)]
    for process in started:
        process.start()
    rates = [told.get() for _ in started]
    for process in started:
        process.join()
    return sum(rates)


def found(run: Run) -> list[tuple[Any, ...]]:
    return [(f.attempt, f.predicted, f.evaluations, f.image_sha256, f.latent.tolist()) for f in run.findings()]


def recorded(run: Run, folder: Path, count: int) -> dict[str, float]:
    """The findings of a run written again and again under other numbers, by the recorder alone."""
    findings, outcomes = list(run.findings()), {o.attempt: o for o in run.outcomes()}
    files = {f.attempt: [(run.layout.folder / n).read_bytes() for n in (f.origin_image, f.image)] for f in findings}
    with RunWriter(folder, run.manifest) as writer:
        recorder = Recorder(writer, Arm.SEARCH, count, 3760, lambda _: None)
        begin = time.perf_counter()
        for first in range(0, count, ROUND):
            events: list[Found | Ended] = []
            for k in range(first, min(first + ROUND, count)):
                finding = findings[k % len(findings)]
                names = {"image": f"images/{k}.png", "origin_image": f"images/{k}-origin.png"}
                pngs = files[finding.attempt]
                events.append(Found(replace(finding, attempt=k, **names), *pngs))
                events.append(Ended(replace(outcomes[finding.attempt], attempt=k)))
            recorder.write(events)
        recorder.flush()
        taken = time.perf_counter() - begin
        writer.close_with("complete")
    images = sum(path.stat().st_size for path in (folder / "images").iterdir())
    return {
        "findings": count,
        "findings_per_second": round(count / taken, 1),
        "database_bytes_per_finding": round((folder / "run.sqlite").stat().st_size / count),
        "image_bytes_per_finding": round(images / count),
    }


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--attempts", type=int, default=100)
    options.add_argument("--findings", type=int, default=2000)
    options.add_argument("--recipes", nargs="+", default=RECIPES)
    options.add_argument("--keep", type=Path, help="a folder for the runs; left out: they are thrown away")
    asked = options.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        times = {workers: timed(asked.recipes, asked.attempts, workers, folder) for workers in (2, 1)}
        alone, together = machine(1), machine(2)
        runs = {n: [open_run(folder / f"{n}" / recipe) for recipe in asked.recipes] for n in times}
        assert list(map(found, runs[1])) == list(map(found, runs[2]))
        figures: dict[str, Any] = {
            "recipes": asked.recipes,
            "attempts": asked.attempts,
            "findings": sum(len(found(run)) for run in runs[1]),
            "evaluations": sum(o.evaluations for run in runs[1] for o in run.outcomes()),
            "seconds": {f"{n} workers": {k: round(v, 2) for k, v in t.items()} for n, t in times.items()},
            "two_against_one": round(times[1]["run"] / times[2]["run"], 3),
            "two_against_one_by_processor_time": round(times[1]["busiest"] / times[2]["busiest"], 3),
            "machine_two_against_one": round(together / alone, 3),
            "machine_evaluations_per_second": [round(alone), round(together)],
            "recorder": recorded(runs[1][0], Path(scratch) / "recorded", asked.findings),
        }
        write("workers", figures)


if __name__ == "__main__":
    main()
