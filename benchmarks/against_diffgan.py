"""Disagreements per second of processor time: foible's `nsga2` beside a transcription of the published loop.

The same GAN and the same two LeNet-5s (trained by plain gradient descent and by Adam), one thread, in turns, several seeds. foible's time
is that of a whole run: it confirms every disagreement on the PNG read back, and stores it with its latent.
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
from scipy.stats import t

import foible
from differing_models import make_models, pairs
from foible.domains import load_domain, real_images
from foible.types import RIVAL
from foible.zoo import resolve
from measure import write
from published_diffgan import published_loop

RESULTS = "against_diffgan"


def ours(a: Any, b: Any, seed: int, population: int, evaluations: int) -> dict[str, float]:
    """A run of foible."""
    recipe = {
        "domain": "mnist",
        "generator": "mnist-gan",
        "classifier": a,
        "classifiers": {RIVAL: b},
        "attempts": 1,
        "seed": seed,
        "search": {"use": "nsga2", "population": population},
        "budget": {"evaluations": evaluations},
        "validators": [],
        "baseline": {"attempts": 0},
        "engine": {"chunk": 128},
    }
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        run = foible.run(recipe, Path(folder) / "run")
        seconds = time.process_time() - begin
        found = len(run.index())
    return {"found": found, "seconds": seconds, "per_second": found / seconds}


def theirs(a: Any, b: Any, seed: int, seconds: float) -> dict[str, float]:
    """The published loop."""
    gan = resolve("generators", "mnist-gan", {}).model
    models = tuple(resolve("classifiers", name, {}, load_domain("mnist"), None).model for name in (a, b))
    real = real_images(load_domain("mnist"), None)

    def decode(latents: torch.Tensor) -> torch.Tensor:
        """The class follows from the first coordinate, so that children mostly have that of their parents."""
        labels = latents[:, 0].add(1).mul(5).long().clamp(0, 9)
        return gan.decode(latents, labels)  # type: ignore[no-any-return]

    found = published_loop(decode, (models[0], models[1]), real.images(torch.arange(100)), seconds, seed)
    return {"found": found.triggers, "seconds": found.seconds, "per_second": found.triggers / found.seconds}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folder", type=Path, default=Path("runs/differing-models"))
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=20.0, help="of the published loop, for each seed")
    arguments.add_argument("--evaluations", type=int, default=6000, help="of foible, for each seed")
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    make_models(chosen.folder)
    a, b = pairs(chosen.folder)["optimiser"]
    rows: dict[str, list[dict[str, float]]] = {
        "published": [],
        "nsga2, population 100": [],
        "nsga2, population 1000": [],
    }
    for seed in range(chosen.seeds):
        rows["nsga2, population 100"].append(ours(a, b, seed, 100, chosen.evaluations))
        rows["nsga2, population 1000"].append(ours(a, b, seed, 1000, 2 * chosen.evaluations))
        rows["published"].append(theirs(a, b, seed, chosen.seconds))
        print(json.dumps({name: cells[-1] for name, cells in rows.items()}), flush=True)
    figures: dict[str, Any] = {"cells": rows}
    base = [c["per_second"] for c in rows["published"]]
    for name, cells in rows.items():
        rates = [c["per_second"] for c in cells]
        ratios = [r / x for r, x in zip(rates, base, strict=True)]
        half = float(t.ppf(0.975, len(ratios) - 1)) * statistics.stdev(ratios) / len(ratios) ** 0.5
        figures[name] = {
            "per_second": statistics.median(rates),
            "times_published": statistics.mean(ratios),
            "interval": [statistics.mean(ratios) - half, statistics.mean(ratios) + half],
        }
    write(RESULTS, figures)


if __name__ == "__main__":
    main()
