"""Distinct and valid disagreements per query: `frontier` and `nsga2` beside random latents, five seeds, several pairs.

Counted, not timed: a busy machine does not change the figures. A query is one image asked of one model (two for every image
here; a gradient costs two more). *Distinct*: further than 0.05 (root mean square of the pixels, black to white = 1) from all
counted before it. *Valid*: the judge takes the image for one of the domain. Cells that are in the results file already
are not run again, so that it can be stopped and started.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from scipy.stats import chi2, t
from torch import Tensor

import foible
from differing_models import make_models, pairs
from foible.campaign import Campaign, assemble, load_recipe
from foible.differing.command import random_images
from foible.domains import load_domain
from foible.metrics import spread, vargha_delaney
from foible.metrics.diversity import distinct, effective_kinds
from foible.types import RIVAL, TESTED, Images
from foible.validators.judge import Judge

RESULTS = Path(__file__).parent / "differential.json"
RADIUS = 0.05
SEEDS = 5
SEARCHES: dict[str, dict[str, Any]] = {
    "frontier": {"attempts": 10, "search": {"use": "frontier"}},
    "nsga2": {"attempts": 1, "search": {"use": "nsga2"}, "budget": {"evaluations": 6000}},
    "divergence only": {
        "attempts": 1,
        "search": {"use": "nsga2", "goals": "divergence"},
        "budget": {"evaluations": 6000},
    },
    "novelty only": {"attempts": 1, "search": {"use": "nsga2", "goals": "novelty"}, "budget": {"evaluations": 6000}},
    "compat": {"attempts": 1, "search": {"use": "nsga2", "compat": True}, "budget": {"evaluations": 6000}},
    "no niches": {"attempts": 1, "search": {"use": "nsga2", "niches": False}, "budget": {"evaluations": 6000}},
}
SAMPLES = {"int8-weights": 10_000, "float16": 5_000}  # random images per seed; of the others:
FEW = 2_000
SPOKEN = {
    "int8-weights": "its own int8 weights",
    "float16": "itself in float16",
    "structure": "another network (mnist-lenet5)",
    "optimiser": "LeNet-5 by SGD and by Adam",
    "training data": "LeNet-5 on all and on half of the images",
}
ORDER = ("random", "nsga2", "frontier", *(name for name in SEARCHES if name not in {"nsga2", "frontier"}))


def cell(pair: str, search: str, seed: int, generator: str, folder: Path) -> dict[str, Any]:
    """One run in numbers."""
    a, b = pairs(folder)[pair]
    recipe = {
        "domain": "mnist",
        "generator": generator,
        "begins": "sampled",
        "classifier": a,
        "classifiers": {RIVAL: b},
        "seed": seed,
        "validators": [],
        "baseline": {"attempts": 0},
        "engine": {"chunk": 32},
        **SEARCHES.get(search, {"search": "random", "oracle": "disagree"}),
    }
    if search == "random":
        campaign = assemble(load_recipe(recipe))
        count = SAMPLES.get(pair, FEW)
        return {"queries": 2 * count, **seen(*_random(campaign, count))}
    with tempfile.TemporaryDirectory() as place:
        run = foible.run(recipe, Path(place) / "run")
        found = list(run.findings())
        images = torch.stack([run.image(f.image) for f in found]) if found else torch.empty(0, 1, 28, 28)
        labels = torch.tensor([f.label for f in found], dtype=torch.long)
        said = [(f.predicted, max(range(10), key=f.after[RIVAL].__getitem__)) for f in found]
        queries = sum(o.evaluations for o in run.outcomes())
        return {"queries": queries, **seen(images, labels, said)}


def _random(campaign: Campaign, count: int) -> tuple[Images, Tensor, list[tuple[int, int]]]:
    """The disagreements among images of random latents."""
    a, b = (campaign.roles[name].classifier for name in (TESTED, RIVAL))
    kept, labels, said = [], [], []
    with torch.inference_mode():
        for images, classes in random_images(campaign, count):
            first, second = a(images).argmax(1), b(images).argmax(1)
            rows = (first != second).nonzero()[:, 0]
            kept.append(images[rows])
            labels.append(classes[rows])
            said += list(zip(first[rows].tolist(), second[rows].tolist(), strict=True))
    return torch.cat(kept), torch.cat(labels), said


def seen(images: Images, labels: Tensor, said: list[tuple[int, int]]) -> dict[str, Any]:
    """How many, how many of them distinct, and how many of those the judge takes for images of the domain."""
    rows = images.flatten(1) / images[0].numel() ** 0.5 if len(images) else images.flatten(1)
    own = distinct(rows, RADIUS)
    verdicts = Judge(load_domain("mnist"))(images[own], labels[own]) if len(own) else []
    valid = [all(v.accepted for v in words if v.about == "image") for words in verdicts]
    return {
        "found": len(images),
        "distinct": len(own),
        "distinct_valid": sum(valid),
        "label_pairs": round(effective_kinds(said).effective, 1),
    }


def summary(known: dict[str, Any]) -> dict[str, Any]:
    """Per pair and search: queries for each distinct valid disagreement, and how many times fewer than random latents need."""
    figures: dict[str, Any] = {}
    for name, cells in known.items():
        rates = {s: [c["distinct_valid"] / c["queries"] for c in runs.values()] for s, runs in cells.items()}
        hits = sum(c["distinct_valid"] for c in cells.get("random", {}).values())
        asked = sum(c["queries"] for c in cells.get("random", {}).values())
        low, high = chi2.ppf(0.025, 2 * hits) / 2 if hits else 0.0, chi2.ppf(0.975, 2 * hits + 2) / 2
        figures[name] = {"random": {"hits": hits, "queries": asked, "interval": [low, high]}}
        for search, mine in rates.items():
            if search == "random" or len(mine) < 2 or not asked:
                continue
            mean = statistics.mean(mine)
            half = float(t.ppf(0.975, len(mine) - 1)) * statistics.stdev(mine) / len(mine) ** 0.5
            figures[name][search] = {
                "seeds": len(mine),
                "queries_for_each": 1 / mean if mean else None,
                "interval": [1 / (mean + half), 1 / (mean - half) if mean > half else None],
                "times_random": mean * asked / hits if hits else None,
                "times_random_at_least": max(0.0, mean - half) * asked / high,
                "distinct": spread([c["distinct"] for c in cells[search].values()]).median,
                "label_pairs": spread([c["label_pairs"] for c in cells[search].values()]).median,
                "a12_of_distinct_against_nsga2": _effect(cells, search),
            }
    return figures


def table(known: dict[str, Any]) -> str:
    """The cells as Markdown: sums over seeds, and the figures of `summary`."""
    lines = [
        "| A against | | seeds | queries | found | distinct | distinct and valid | label pairs | queries for each | times random |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    figures = summary(known)
    for name in (f"{pair}, mnist-gan" for pair in SPOKEN):
        for search, runs in sorted(known.get(name, {}).items(), key=lambda item: ORDER.index(item[0])):
            sums = {k: sum(c[k] for c in runs.values()) for k in ("queries", "found", "distinct", "distinct_valid")}
            pairs_ = spread([c["label_pairs"] for c in runs.values()]).median
            told = figures[name].get(search, {})
            each = f"{sums['queries'] / sums['distinct_valid']:,.1f}" if sums["distinct_valid"] else ""
            if told.get("interval"):
                low, high = told["interval"]
                if search == "random":  # of the number of hits
                    low, high = sums["queries"] / high, sums["queries"] / low if low else None
                each += f" ({low:,.1f} to {'any' if high is None else f'{high:,.1f}'})"
            times = ""
            if search != "random" and told:
                mean = told["times_random"]
                times = f"{mean:,.1f} " if mean else ""
                times += f"(at least {told['times_random_at_least']:,.1f})"
            counts = " | ".join(f"{sums[k]:,}" for k in ("queries", "found", "distinct", "distinct_valid"))
            spoken = SPOKEN[name.partition(",")[0]]
            called = "random latents" if search == "random" else f"`{search}`"
            lines.append(f"| {spoken} | {called} | {len(runs)} | {counts} | {pairs_:.0f} | {each} | {times} |")
    return "\n".join(lines)


def _effect(cells: dict[str, Any], search: str) -> float | None:
    """How often a run of this search has more distinct disagreements than one of `nsga2`: runs are compared, not images."""
    mine, theirs = ([c["distinct"] for c in cells.get(name, {}).values()] for name in (search, "nsga2"))
    return vargha_delaney(mine, theirs) if mine and theirs else None


def stored() -> dict[str, Any]:
    """The cells that have been run."""
    return dict(json.loads(RESULTS.read_text())["cells"]) if RESULTS.is_file() else {}


def keep(place: tuple[str, str, str], figures: dict[str, Any]) -> None:
    """Write a cell among the others; several processes may do so at once."""
    with FileLock(f"{RESULTS}.lock"):
        cells = stored()
        cells.setdefault(place[0], {}).setdefault(place[1], {})[place[2]] = figures
        RESULTS.write_text(json.dumps({"cells": cells, "figures": summary(cells)}, indent=1, sort_keys=True) + "\n")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folder", type=Path, default=Path("runs/differing-models"))
    arguments.add_argument("--generator", default="mnist-gan")
    arguments.add_argument("--pairs", nargs="*", default=list(pairs(Path())))
    arguments.add_argument("--searches", nargs="*", default=["frontier", "nsga2", "random"])
    arguments.add_argument("--seeds", type=int, default=SEEDS)
    arguments.add_argument("--table", action="store_true", help="run nothing: print what is known as Markdown")
    arguments.add_argument("--seconds", type=float, default=1e9, help="begin no cell after so many")
    chosen = arguments.parse_args()
    if chosen.table:
        print(table(stored()))
        return
    if {"optimiser", "training data"} & set(chosen.pairs):
        make_models(chosen.folder)
    begin = time.monotonic()
    for seed in range(chosen.seeds):
        for pair in chosen.pairs:
            for search in chosen.searches:
                place = (f"{pair}, {chosen.generator}", search, str(seed))
                if place[2] in stored().get(place[0], {}).get(search, {}) or time.monotonic() - begin > chosen.seconds:
                    continue
                figures = cell(pair, search, seed, chosen.generator, chosen.folder)
                print(*place, figures, flush=True)
                keep(place, figures)
    print(json.dumps(summary(stored()), indent=1))


if __name__ == "__main__":
    main()
