"""What the judge makes of the failures that foible's own searches find, beside what people made of published ones.

For each domain and generator the genetic search (published steps) and `descent`, from any origin that the classifier gets right, as
in the published study. `valid` and `kept` are shares of confirmed failures. People's shares are those of one person, from the published
shares of both saying so and their kappa k: both = p^2 + k p (1 - p).

    python benchmarks/judge_on_failures.py mnist --folder runs/judge --attempts 25
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

import foible
from foible.domains import load_domain
from foible.metrics import rate
from foible.records import everyone_accepts
from foible.validators.judge import Judge
from measure import write

PEOPLE = {  # GIFTbench (ICST 2025), both extents and three generators: one person's shares of valid and of kept
    "mnist": (0.725, 0.417),
    "svhn": (0.530, 0.244),
    "cifar10": (0.682, 0.389),
}
SEARCHES = {"genetic": {"use": "genetic", "extent": "high", "compat": True}, "descent": {"use": "descent"}}


def judged(domain: str, generator: str, search: str, attempts: int, folder: Path) -> dict[str, Any]:
    """The verdicts on the failures of one campaign; the run is kept, so that another call goes on."""
    home = load_domain(domain)
    recipe = {
        "name": f"{generator}-{search}",
        "domain": domain,
        "generator": generator,
        "classifier": home.classifier,
        "attempts": attempts,
        "origins": "any",
        "search": SEARCHES[search],
        "budget": {"evaluations": 2500},
        "baseline": {"attempts": 0},
        "engine": {"chunk": 32},
        "steadiness": False,
    }
    run = foible.run(recipe, folder / recipe["name"])
    found = list(run.findings())
    scores = {about: [v.score for f in found for v in f.verdicts if v.about == about] for about in ("image", "label")}
    verdicts = [f.verdicts for f in found]
    origins = Judge(home).judgement(
        torch.stack([run.image(f.origin_image) for f in found]), torch.tensor([f.label for f in found])
    )
    figures = {
        "failures": len(found),
        "valid": shares([everyone_accepts(v, "image") for v in verdicts]),
        "kept": shares([everyone_accepts(v) for v in verdicts]),
        "origins valid with their label": shares((origins.valid & origins.kept).tolist()),
        "median score": {name: sorted(values)[len(values) // 2] for name, values in scores.items() if values},
    }
    return figures


def shares(hits: list[bool]) -> list[float | None]:
    """A share with its 95 % interval."""
    found = rate(sum(hits), len(hits))
    return [found.share, found.low, found.high]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("domain")
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--attempts", type=int, default=25)
    options.add_argument("--kinds", nargs="+", default=["vae", "gan"])
    chosen = options.parse_args()
    figures: dict[str, Any] = {"attempts": chosen.attempts}
    for kind in chosen.kinds:
        for search in SEARCHES:
            cell = f"{chosen.domain}-{kind}"
            figures[f"{cell} {search}"] = judged(chosen.domain, cell, search, chosen.attempts, chosen.folder)
    if chosen.domain in PEOPLE:
        figures["one person on published failures: valid, kept"] = list(PEOPLE[chosen.domain])
    write(f"judge_on_failures_{chosen.domain}", figures)


if __name__ == "__main__":
    main()
