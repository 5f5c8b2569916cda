"""The nearest class change of 1,000 origins: gap U, distance, success and evaluations of four searches, same origins.

`shrink` (black box), `shrink` with gradients, `descent` to the border, and `boundary-genetic` with `compat`, the published
search. Counted, not timed.
Runs go into a folder and go on where they stopped, so that a long one may be cut into pieces (`--seconds`). What is
compared are the first `--origins` that were accepted; the published search may be given fewer of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import foible
from foible.metrics import estimate, rate, vargha_delaney
from foible.records import Finding
from foible.store import Run, open_run
from measure import write

MODELS = {"mnist": ("mnist-vae", "mnist-deepconv"), "fashion": ("fashion-vae", "fashion-vgg")}
SEARCHES: dict[str, dict[str, Any]] = {
    "shrink": {"search": {"use": "shrink"}},
    "shrink, gradients": {"search": {"use": "shrink", "gradients": True}},
    "descent": {"search": {"use": "descent", "steady": False, "keep": 0.0001, "shrinks": 12}, "objective": "boundary"},
    "compat": {"search": {"use": "boundary-genetic", "compat": True}},
}


def go_on(domain: str, search: str, attempts: int, seed: int, seconds: float, folder: Path) -> None:
    """Run one search on a domain, or go on with it."""
    generator, classifier = MODELS[domain]
    recipe = {
        "name": f"{domain} {search}",
        "domain": domain,
        "generator": generator,
        "classifier": classifier,
        "attempts": attempts,
        "seed": seed,
        **SEARCHES[search],
        "validators": [],
        "steadiness": False,
        "baseline": {"attempts": 0},
        "engine": {"chunk": 128, "lanes": 64},
    }
    foible.run(recipe, folder, **{"budget.seconds": seconds})


def figures(run: Run, origins: int) -> dict[str, Any]:
    """Figures over the first so many accepted origins; of a run that goes on, those before the first unfinished attempt."""
    outcomes = list(run.outcomes())
    whole = [o for k, o in enumerate(outcomes) if o.attempt == k]  # searches that take long end out of order
    ended = [o for o in whole if o.accepted][:origins]
    found = {f.attempt: f for f in run.findings()}
    mine = [found[o.attempt] for o in ended if o.attempt in found]
    rng = np.random.default_rng(0)
    means = {name: mean_of([f.measures[name] for f in mine], rng) for name in ("gap", "l1", "l2")}
    before = [top_gap(f) for f in mine]
    return {
        "origins": len(ended),
        "found": interval(rate(len(mine), len(ended))),
        "evaluations": mean_of([float(o.evaluations) for o in ended], rng),
        **means,
        "gap_largest": max(f.measures["gap"] for f in mine),
        "l1_median": float(np.median([f.measures["l1"] for f in mine])),
        "changed_median": float(np.median([f.measures["changed"] for f in mine])),
        "gap_of_origins": float(np.mean(before)),
        "cliffs_delta": 2 * (vargha_delaney([f.measures["gap"] for f in mine], before) or 0.0) - 1,
    }


def top_gap(finding: Finding) -> float:
    """The gap U of the origin."""
    first, second = sorted(finding.origin_probabilities, reverse=True)[:2]
    return first - second


def mean_of(values: list[float], rng: np.random.Generator) -> list[float | None]:
    """Mean and 95 % bootstrap interval over origins."""
    array = np.array(values)
    said = estimate(len(array), lambda rows: float(array[rows].mean()), rng)
    return [said.value, said.low, said.high]


def interval(share: Any) -> list[Any]:
    """Count, total and Wilson interval."""
    return [share.count, share.total, share.low, share.high]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--domains", nargs="*", default=list(MODELS))
    arguments.add_argument("--searches", nargs="*", default=list(SEARCHES))
    arguments.add_argument("--origins", type=int, default=1000)
    arguments.add_argument("--compat-origins", type=int, default=1000)
    arguments.add_argument("--spare", type=float, default=1.2, help="attempts per origin: some are misclassified")
    arguments.add_argument(
        "--seed", type=int, default=9, help="not the one on which the settings of shrink were chosen (5)"
    )
    arguments.add_argument("--seconds", type=float, default=3600)
    arguments.add_argument("--folder", type=Path, default=Path("boundary-runs"))
    arguments.add_argument("--table", action="store_true", help="only read what has been run, and keep the figures")
    chosen = arguments.parse_args()
    rows: dict[str, Any] = {}
    for domain in chosen.domains:
        for search in chosen.searches:
            folder = chosen.folder / f"{domain}-{search.replace(', ', '-')}"
            wanted = chosen.compat_origins if search == "compat" else chosen.origins
            if not chosen.table:
                go_on(domain, search, int(wanted * chosen.spare), chosen.seed, chosen.seconds, folder)
            if folder.is_dir():
                rows[f"{domain}, {search}"] = figures(open_run(folder), wanted)
                print(domain, search, rows[f"{domain}, {search}"], flush=True)
    if chosen.table:
        write("boundary", rows)


if __name__ == "__main__":
    main()
