"""Photographs: `descent` from real photographs, on an ImageNet network, in the latent space of a tiny autoencoder.

Needs a tree of photographs (`pizza/`, `teddy_bear/`), the autoencoder's weights (`*encoder.pth`, `*decoder.pth`) and the two packages of
`lite0.py`. Says what is set up in how long, and what each way of searching spends and finds.

    python benchmarks/photographs.py --photographs photos --autoencoder taef2 --attempts 40
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import lite0
from foible.campaign import Campaign, assemble, check, load_recipe, run
from foible.campaign.prepare import batches_of
from foible.classifiers.adapting.conventions import Undecided
from foible.cli.memory import keep_freed_memory
from foible.report import summarise
from foible.store import open_run
from measure import RESULTS, write

SEARCHES: dict[str, dict[str, Any]] = {
    "descent": {"use": "descent", "steady": False, "keep": 0.5},
    "descent, steady, keep 0.5": {"use": "descent", "keep": 0.5},
    "descent, steady": {"use": "descent"},  # the autoencoder advises it to keep 2
}
SAID = {"range": [-1, 1]}  # how the network wants its images
ASKED: dict[str, dict[str, Any]] = {"range said": SAID, "nothing said": {}}


def recipe_of(photographs: Path, autoencoder: Path, kind: str, attempts: int, said: dict[str, Any]) -> dict[str, Any]:
    """A campaign on one class, with what is said of the network's input."""
    maker = {"use": "autoencoder", "folder": str(autoencoder), "images": str(photographs), "shape": [3, 224, 224]}
    return {
        "domain": "imagenet",
        "data": str(photographs),
        "classes": [kind],
        "generator": maker,
        "classifier": {"use": str(lite0.weights()), "factory": f"{Path(lite0.__file__)}:make", **said},
        "attempts": attempts,
        "budget": {"evaluations": 400},
        "baseline": {"attempts": 0},
    }


def set_up(recipe: dict[str, Any]) -> tuple[Campaign | None, dict[str, Any]]:
    """The campaign ready to search, or None where the user must say how images go in; and how long it took to know."""
    wall, cpu = time.perf_counter(), time.process_time()
    campaign, end = None, "ready"
    try:
        campaign = assemble(load_recipe(recipe))
        check(campaign).must_pass()
        batches_of(campaign)
    except Undecided as error:
        end = f"asks which of {len(error.choices)} conventions it is"
    spent = {"seconds": round(time.perf_counter() - wall, 1), "cpu_seconds": round(time.process_time() - cpu, 1)}
    return campaign, spent | {"end": end}


def measured(photographs: Path, autoencoder: Path, name: str, kind: str, attempts: int) -> dict[str, Any]:
    """One campaign in numbers."""
    cpu = time.process_time()
    campaign, ready = set_up(recipe_of(photographs, autoencoder, kind, attempts, SAID) | {"search": SEARCHES[name]})
    assert campaign is not None
    with tempfile.TemporaryDirectory() as folder:
        run(campaign, Path(folder) / "run")
        opened = open_run(Path(folder) / "run")
        figures, findings = summarise(opened).metrics, list(opened.findings())
    steady = [any(v.about == "steadiness" and v.accepted for v in f.verdicts) for f in findings]
    changes = sorted(f.pixel_distance / (3 * 224 * 224) ** 0.5 * 255 for f in findings)
    return {
        "set_up": ready,
        "accepted": figures["accepted"],
        "confirmed": figures["confirmed"],
        "steady": sum(steady),
        "evaluations_per_failure": round((figures["evaluations"] or 0) / max(1, len(findings)), 1),
        "median_change_in_grey_levels": round(changes[len(changes) // 2], 2) if changes else None,
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--photographs", type=Path, required=True)
    arguments.add_argument("--autoencoder", type=Path, required=True)
    arguments.add_argument("--attempts", type=int, default=40)
    arguments.add_argument("--searches", nargs="*", default=list(SEARCHES), choices=list(SEARCHES))
    arguments.add_argument("--set-up", action="store_true", help="time setting up, told and not told how images go in")
    arguments.add_argument("--classes", nargs="*", default=["pizza", "teddy_bear"])
    chosen = arguments.parse_args()
    folders = chosen.photographs, chosen.autoencoder
    keep_freed_memory()
    if chosen.set_up:
        rows = {name: set_up(recipe_of(*folders, "pizza", 4, said))[1] for name, said in ASKED.items()}
        keep("set_up", rows)
    for kind in chosen.classes:
        for name in chosen.searches:
            row = measured(*folders, name, kind, chosen.attempts)
            keep(f"{kind}, {name}", row | {"attempts": chosen.attempts})


def keep(name: str, row: dict[str, Any]) -> None:
    """Add a row to what is there already."""
    print(name, row, flush=True)
    known = json.loads(RESULTS.read_text()).get("photographs", {})
    write("photographs", known | {name: row}, quiet=True)


if __name__ == "__main__":
    main()
