"""Photographs: `descent` from real photographs, on an ImageNet network, in the latent space of a tiny autoencoder.

Needs a tree of photographs (`pizza/`, `teddy_bear/`), the autoencoder's weights (`*encoder.pth`, `*decoder.pth`) and the two packages of
`lite0.py`. Says what is set up in how long, and what each way of searching spends and finds.

    python benchmarks/photographs.py --photographs photos --autoencoder taef2 --attempts 8
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import lite0
from foible.campaign import assemble, check, load_recipe, run
from foible.campaign.prepare import batches_of
from foible.cli.memory import keep_freed_memory
from foible.report import summarise
from foible.store import open_run
from measure import RESULTS, write

SEARCHES = {"descent": {"use": "descent", "steady": False}, "descent, steady": {"use": "descent"}}


def measured(photographs: Path, autoencoder: Path, name: str, kind: str, attempts: int) -> dict[str, Any]:
    """One campaign in numbers."""
    recipe = {
        "domain": "imagenet",
        "data": str(photographs),
        "classes": [kind],
        "generator": {
            "use": "autoencoder",
            "folder": str(autoencoder),
            "images": str(photographs),
            "shape": [3, 224, 224],
        },
        "classifier": {"use": str(lite0.weights()), "factory": f"{Path(lite0.__file__)}:make", "range": [-1, 1]},
        "attempts": attempts,
        "search": SEARCHES[name],
        "budget": {"evaluations": 400},
        "baseline": {"attempts": 0},
    }
    wall, cpu = time.perf_counter(), time.process_time()
    campaign = assemble(load_recipe(recipe))
    check(campaign).must_pass()
    batches = batches_of(campaign)
    ready = {"seconds": round(time.perf_counter() - wall, 1), "cpu_seconds": round(time.process_time() - cpu, 1)}
    with tempfile.TemporaryDirectory() as folder:
        run(campaign, Path(folder) / "run")
        opened = open_run(Path(folder) / "run")
        figures, findings = summarise(opened).metrics, list(opened.findings())
    steady = [any(v.about == "steadiness" and v.accepted for v in f.verdicts) for f in findings]
    changes = sorted(f.pixel_distance / (3 * 224 * 224) ** 0.5 * 255 for f in findings)
    return {
        "set_up": ready,
        "chunk": batches.chunk,
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
    arguments.add_argument("--attempts", type=int, default=8)
    arguments.add_argument("--searches", nargs="*", default=list(SEARCHES), choices=list(SEARCHES))
    arguments.add_argument("--classes", nargs="*", default=["pizza", "teddy_bear"])
    chosen = arguments.parse_args()
    keep_freed_memory()
    for kind in chosen.classes:
        for name in chosen.searches:
            row = measured(chosen.photographs, chosen.autoencoder, name, kind, chosen.attempts)
            known = json.loads(RESULTS.read_text()).get("photographs", {})
            write("photographs", known | {f"{kind}, {name}": row | {"attempts": chosen.attempts}}, quiet=True)
            print(kind, name, row, flush=True)


if __name__ == "__main__":
    main()
