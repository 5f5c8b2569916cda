"""What gradients are worth: evaluations per confirmed failure and per failure that counts, every domain, VAE and GAN.

Counted, not timed: a busy machine does not change them. `genetic` (the published step rule, confirmed) and random search stand
beside descent on the same origins where `--rivals` says so; `transfer` treats the same classifier as a black box.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import foible
from foible.report import summarise
from measure import write

TESTED = {"mnist": "mnist-deepconv", "fashion": "fashion-vgg", "svhn": "svhn-vgg", "cifar10": "cifar10-vgg"}
GENERATORS = [f"{domain}-{family}" for domain in TESTED for family in ("vae", "gan")]
SEARCHES: dict[str, dict[str, Any]] = {
    "descent": {"use": "descent", "steady": False},
    "descent, steady": {"use": "descent"},
    "transfer": {"use": "transfer", "steady": False},
    "transfer, steady": {"use": "transfer"},
}
RIVALS: dict[str, dict[str, Any]] = {
    "genetic": {"use": "genetic", "extent": "high", "compat": True},
    "random": {"use": "random", "extent": "high"},
}


def measured(generator: str, search: Mapping[str, Any], attempts: int, budget: int) -> dict[str, Any]:
    """One campaign in numbers."""
    domain = generator.split("-")[0]
    recipe = {
        "domain": domain,
        "generator": generator,
        "classifier": TESTED[domain],
        "attempts": attempts,
        "search": dict(search),
        "budget": {"evaluations": budget},
        "baseline": {"attempts": 0},
        "engine": {"chunk": 32},
    }
    with tempfile.TemporaryDirectory() as folder:
        figures = summarise(foible.run(recipe, Path(folder) / "run")).metrics
    spent, counts = figures["evaluations"] or 0, figures["counts"] or 0
    return {
        **{name: figures[name] for name in ("accepted", "confirmed", "steady", "valid", "label_kept", "counts")},
        "evaluations_per_failure": round(spent / max(1, figures["confirmed"] or 0), 1),
        "evaluations_per_failure_that_counts": round(spent / counts, 1) if counts else None,
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--attempts", type=int, default=100)
    arguments.add_argument("--generators", nargs="*", default=GENERATORS)
    arguments.add_argument("--searches", nargs="*", default=list(SEARCHES))
    arguments.add_argument("--rivals", type=int, default=0, help="attempts of genetic and random search")
    chosen = arguments.parse_args()
    figures: dict[str, Any] = {}
    for generator in chosen.generators:
        rows = {
            name: measured(generator, SEARCHES[name], chosen.attempts, 600)
            for name in chosen.searches
            if not (name.startswith("transfer") and generator.startswith("fashion"))  # it has no other classifier
        }
        if chosen.rivals:
            rows |= {name: measured(generator, search, chosen.rivals, 3760) for name, search in RIVALS.items()}
        figures[generator] = rows
        print(generator, rows, flush=True)
    write("gradient_searches", {"attempts": chosen.attempts, "rivals": chosen.rivals, "figures": figures})


if __name__ == "__main__":
    main()
