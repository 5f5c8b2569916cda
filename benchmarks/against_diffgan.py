"""Disagreements per second of processor time: foible's searches beside a transcription of the published loop.

The same GAN and the same two LeNet-5s (trained by plain gradient descent and by Adam), one thread, in turns, several seeds. foible's
time is that of a whole run, the reading of the models included: it confirms every disagreement on the PNG read back, and stores it
with its latent. The published loop keeps images in memory. It gets slower as its archive grows, so that the time it is given
matters: what it had after each of `MARKS` seconds is kept. *Distinct* as in `differential.py`.

    python against_diffgan.py --seeds 0 1     # cells that are in the results already are not run again

Needs umap-learn: `pip install umap-learn`.
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
from torch import Tensor

import foible
from differing_models import make_models, pairs
from foible.domains import load_domain, real_images
from foible.metrics.diversity import distinct
from foible.types import RIVAL
from foible.zoo import resolve
from measure import RESULTS, write
from published_diffgan import published_loop

NAME = "against_diffgan"
RADIUS = 0.05
MARKS = (30, 60)  # seconds of the published loop; published runs take an hour and more
OURS: dict[str, dict[str, Any]] = {
    "nsga2": {"search": {"use": "nsga2"}, "attempts": 1, "budget": {"evaluations": 30_000}},
    "frontier": {"search": {"use": "frontier"}, "attempts": 200, "engine": {"chunk": 128, "lanes": 128}},
}


def ours(a: Any, b: Any, seed: int, how: dict[str, Any]) -> dict[str, Any]:
    """A run of foible."""
    recipe = {
        "domain": "mnist",
        "generator": "mnist-gan",
        "classifier": a,
        "classifiers": {RIVAL: b},
        "seed": seed,
        "validators": [],
        "baseline": {"attempts": 0},
        "engine": {"chunk": 128},
        **how,
    }
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        run = foible.run(recipe, Path(folder) / "run")
        seconds = time.process_time() - begin
        images = torch.stack([run.image(finding.image) for finding in run.findings()]).flatten(1)
    return counted(images, seconds)


def theirs(a: Any, b: Any, seed: int) -> dict[str, Any]:
    """The published loop."""
    gan = resolve("generators", "mnist-gan", {}).model
    models = tuple(resolve("classifiers", name, {}, load_domain("mnist"), None).model for name in (a, b))
    real = real_images(load_domain("mnist"), None)

    def decode(latents: Tensor) -> Tensor:
        """The class follows from the first coordinate, so that children mostly have that of their parents."""
        labels = latents[:, 0].add(1).mul(5).long().clamp(0, 9)
        return gan.decode(latents, labels)  # type: ignore[no-any-return]

    found = published_loop(decode, (models[0], models[1]), real.images(torch.arange(100)), MARKS[-1], seed)
    by_mark = [next(row for row in found.growth if row[0] >= mark) for mark in MARKS]
    after = {str(m): counted(found.images[:n], spent) for m, (spent, n) in zip(MARKS, by_mark, strict=True)}
    return after[str(MARKS[-1])] | {"after": after}


def counted(images: Tensor, seconds: float) -> dict[str, Any]:
    """How many, how many distinct, and both by the second."""
    found, own = len(images), len(distinct(images / images.shape[1] ** 0.5, RADIUS))
    return {
        "found": found,
        "distinct": own,
        "seconds": seconds,
        "per_second": found / seconds,
        "distinct_per_second": own / seconds,
    }


def summary(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Medians, and how many times the published loop, seed by seed; the interval is Student's of the mean over seeds."""
    figures: dict[str, Any] = {}
    for mark in map(str, MARKS):
        after = [c["after"][mark]["per_second"] for c in rows["published"].values()]
        figures[f"published after {mark} s"] = statistics.median(after)
    for name, cells in rows.items():
        figures[name] = {
            k: statistics.median(c[k] for c in cells.values()) for k in ("per_second", "distinct_per_second")
        }
        for what in ("per_second", "distinct_per_second") if name != "published" else ():
            times = [c[what] / rows["published"][seed][what] for seed, c in cells.items()]
            half = (
                float(t.ppf(0.975, len(times) - 1)) * statistics.stdev(times) / len(times) ** 0.5
                if len(times) > 1
                else 0
            )
            mean = statistics.mean(times)
            figures[name][f"times_published_{what}"] = {
                "mean": mean,
                "interval": [mean - half, mean + half],
                "all": times,
            }
    return figures


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folder", type=Path, default=Path("runs/differing-models"))
    arguments.add_argument("--seeds", type=int, nargs="*", default=range(5))
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    make_models(chosen.folder)
    a, b = pairs(chosen.folder)["optimiser"]
    known = json.loads(RESULTS.read_text()).get(NAME, {}) if RESULTS.is_file() else {}
    rows: dict[str, dict[str, Any]] = known.get("cells", {})
    for seed in map(str, chosen.seeds):
        for name in ("published", *OURS):
            cells = rows.setdefault(name, {})
            if seed not in cells:
                cells[seed] = ours(a, b, int(seed), OURS[name]) if name in OURS else theirs(a, b, int(seed))
                print(seed, name, json.dumps(cells[seed]), flush=True)
    write(NAME, {"cells": rows, "figures": summary(rows)})


if __name__ == "__main__":
    main()
