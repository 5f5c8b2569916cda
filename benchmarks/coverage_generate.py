"""Adversarial images per second of processor time: DeepXplore through foible's engine, and the published MNIST loop.

Run: python benchmarks/coverage_generate.py [--only light] [--origins 1024] [--repeats 5]; what was measured of other constraints stays. One
thread; all take turns, each time with other images. Both drive LeNet-1 away from LeNet-4 and LeNet-5, as the published program does when nothing
else is said, under the same constraint (light, occlusion of 10 x 10 pixels, blackout of 6 x 6), with lambda2 = 0.1 and one gradient of everything
added up.

The published loop is `published_deepxplore.py`, with its own settings. It takes steps of 10 in images of [0, 1] and counts what
disagrees before it is saved; most of that no longer does once it is a file. What counts here, for both, is a file that shows the disagreement; the
raw count stands beside it. foible's are in [0, 1] at every step, rounded, stored as PNG, read back and confirmed; its time has all in it (profiles,
what is shared, files, database) but loading models. Neither deletes its files before the
benchmark is over (`measure.new_folder`). Neuron coverage reads nothing of a profile, so 100 images are profiled and not 2,000. Its lambda1 and number of
steps were chosen on origins of another seed (--seed 1); docs/coverage.md says more.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch

from foible.campaign import Campaign, assemble, load_recipe
from foible.campaign.run import run
from foible.classifiers.scopes import module_of
from foible.domains import load_domain, real_images
from foible.store import open_run
from foible.types import Status
from foible.zoo import resolve
from measure import RESULTS, new_folder, write
from published_deepxplore import Tally, generate

MODELS = ("mnist-lenet1", "mnist-lenet4", "mnist-lenet5")
SETTINGS: dict[str, dict[str, Any]] = {
    "light": {"step": 1.0, "steps": 4},
    "occlusion": {"step": 0.5, "steps": 4},
    "blackout": {"step": 1.0, "steps": 20},
}
FEW = 8  # the published loop gets as many images divided by this: it is slow, and its rate does not depend on their number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--origins", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    domain = load_domain("mnist")
    networks = [module_of(resolve("classifiers", name, {}, domain).model) for name in MODELS]
    data = real_images(domain)
    order = torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(told.seed))
    parts = order.split(max(5, told.origins // FEW))
    tasks: dict[str, Callable[[int], Tally]] = {}
    turns = range(told.repeats + 1)
    for constraint in told.only:
        made = [assemble(load_recipe(recipe(constraint, told.origins, 100 * told.seed + n))) for n in turns]
        tasks[f"{constraint}, foible"] = lambda turn, made=made: ours(made[turn])
        tasks[f"{constraint}, published"] = lambda turn, c=constraint: theirs(
            networks, data.images(parts[turn]), c, turn
        )
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in tasks}
    for turn in turns:
        for name, task in tasks.items():
            begin = time.process_time()
            tally = task(turn)
            taken = time.process_time() - begin
            if turn:  # a first round is not counted
                rows[name].append(asdict(tally) | {"cpu": round(taken, 4)})
                print(name, rows[name][-1], flush=True)
    figures = {name: rates(some) for name, some in rows.items()}
    ratios = {c: ratio(figures[f"{c}, foible"], figures[f"{c}, published"]) for c in told.only}
    name = "coverage_generate" if told.repeats >= 5 else "coverage_generate_small"
    known = json.loads(RESULTS.read_text()).get(name, {}) if RESULTS.is_file() else {}
    known = known if known.get("origins") == told.origins else {}
    new = {
        "rates": figures,
        "foible over published": ratios,
        "runs": rows,
        "loads": {c: [round(load, 1), round(os.getloadavg()[0], 1)] for c in told.only},
    }
    together = {part: known.get(part, {}) | table for part, table in new.items()}
    write(name, together | {"origins": told.origins, "settings": SETTINGS})


def rates(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Median, smallest and largest of the repeats; shares and steps over all of them."""

    def spread(name: str) -> list[float]:
        each = [row[name] / row["cpu"] for row in rows]
        return [round(v, 2) for v in (statistics.median(each), min(each), max(each))]

    total = {name: sum(row[name] for row in rows) for name in ("found", "kept", "tried", "steps")}
    return {
        "kept per CPU second": spread("kept"),
        "raw per CPU second": spread("found"),
        "kept per CPU second, all repeats together": round(total["kept"] / sum(row["cpu"] for row in rows), 2),
        "kept of origins": [total["kept"], total["tried"]],
        "steps per kept": round(total["steps"] / max(1, total["kept"]), 2),
    }


def ratio(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float | None]:
    """How many times as many: files, by medians and by totals; and files against what the published program counts."""
    kept, raw, together = "kept per CPU second", "raw per CPU second", "kept per CPU second, all repeats together"
    return {
        "files": round(ours[kept][0] / theirs[kept][0], 2) if theirs[kept][0] else None,
        "files, all repeats together": round(ours[together] / theirs[together], 2) if theirs[together] else None,
        "files against raw disagreements": round(ours[kept][0] / theirs[raw][0], 2),
    }


def recipe(constraint: str, origins: int, seed: int) -> dict[str, Any]:
    objective = {
        "use": "covering",
        "pull": "apart",
        "criterion": "nc",
        "others": ["rival", "another"],
        "remembers": "failures",
        "lambda1": 10.0,
        "profiled": 100,
    }
    search = {
        "use": "deepxplore",
        "constraint": constraint,
        "norm": "linf",
        "radius": 1.0,  # anything in [0, 1], as published
        "weight": 0.1,
        "normalise": "sum",
    }
    return {
        "name": "generate",
        "domain": "mnist",
        "generator": "pixels",
        "classifiers": dict(zip(("tested", "rival", "another"), MODELS, strict=True)),
        "objective": objective,
        "search": search | SETTINGS[constraint],
        "attempts": origins,
        "seed": seed,
        "budget": {"evaluations": 100_000},
        "validators": [],
        "steadiness": False,
        "baseline": {"attempts": 0},
        "wave": 256,
        "engine": {"lanes": 256, "chunk": 128},
    }


def ours(campaign: Campaign) -> Tally:
    folder = new_folder() / "run"
    run(campaign, folder)
    outcomes = [o for o in open_run(folder).outcomes() if o.accepted]
    found = sum(o.status is Status.FOUND for o in outcomes)
    return Tally(found, found, len(outcomes), sum(o.rounds for o in outcomes))


def theirs(networks: list[Any], images: torch.Tensor, constraint: str, seed: int) -> Tally:
    return generate(networks, list(images.split(1)), constraint, new_folder(), seed)


if __name__ == "__main__":
    main()
