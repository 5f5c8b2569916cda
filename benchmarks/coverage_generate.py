"""Failures per second of processor time: DeepXplore through foible's engine, and a transcription of the published MNIST loop.

Run: python benchmarks/coverage_generate.py [--origins 200] [--repeats 5]. One thread, the two take turns; both drive LeNet-5 from LeNet-1
and LeNet-4 with neuron coverage, occlusion (10 x 10 pixels), lambda1 = 3, lambda2 = 0.1 and 20 steps.

The transcription is peikexin9/deepxplore's MNIST/gen_diff.py in torch: one seed at a time, three gradients in one backward pass, all
models asked again after each step, and coverage updated unit by unit in Python. Left out: that it rebuilds Keras models for every
update. It counts a disagreement of the raw image, unbounded and unrounded; foible's are inside [0, 1] and a ball, rounded, stored as PNG, read back
and confirmed. What both have in common is the images they start from. foible's time has everything in it but loading the models.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foible.campaign import assemble, load_recipe
from foible.campaign.run import run
from foible.classifiers.scopes import measured_layers
from foible.domains import load_domain, real_images
from foible.store import open_run
from foible.types import Status
from foible.zoo import resolve
from measure import write

MODELS = ("mnist-lenet5", "mnist-lenet1", "mnist-lenet4")
LAMBDA1, LAMBDA2, STEPS, RECT = 3.0, 0.1, 20, 10
STEP = 0.3  # per step; published 10 per step of a gradient scaled to a root mean square of 1, over all pixels
THRESHOLD = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--origins", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    told = parser.parse_args()
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    domain = load_domain("mnist")
    models = [resolve("classifiers", name, {}, domain).model for name in MODELS]
    data = real_images(domain)
    campaign = assemble(load_recipe(recipe(told.origins)))
    figures: dict[str, list[dict[str, float]]] = {"foible": [], "published loop": []}
    for turn in range(told.repeats + 1):
        few = max(5, told.origins // 10)  # the published loop is slow: a tenth of the origins, others each time
        seeds = torch.arange(turn * few, (turn + 1) * few)
        for name in figures:
            begin = time.process_time()
            found, tried = ours(campaign) if name == "foible" else theirs(models, data, seeds)
            taken = time.process_time() - begin
            if turn:
                figures[name].append({"found": found, "tried": tried, "cpu": round(taken, 3), "rate": found / taken})
    rates = {name: [f["rate"] for f in rows] for name, rows in figures.items()}
    medians = {name: round(statistics.median(r), 2) for name, r in rates.items()}
    write(
        "coverage_generate",
        {
            "found per CPU second, median": medians,
            "range": {name: [round(min(r), 2), round(max(r), 2)] for name, r in rates.items()},
            "ratio": round(medians["foible"] / max(1e-9, medians["published loop"]), 1),
            "runs": figures,
            "load": [round(load, 1), round(os.getloadavg()[0], 1)],
        },
    )


def recipe(origins: int) -> dict[str, Any]:
    return {
        "name": "generate",
        "domain": "mnist",
        "generator": "pixels",
        "classifiers": dict(zip(("tested", "rival", "another"), MODELS, strict=True)),
        "search": {
            "use": "deepxplore",
            "constraint": "occlusion",
            "steps": STEPS,
            "step": 0.1,
            "radius": 6.0,
            "lambda1": LAMBDA1,
            "weight": LAMBDA2,
        },
        "attempts": origins,
        "budget": {"evaluations": 100_000},
        "validators": [],
        "steadiness": False,
        "baseline": {"attempts": 0},
        "wave": 64,
        "engine": {"lanes": 64, "chunk": 64},
    }


def ours(campaign: Any) -> tuple[int, int]:
    folder = Path(tempfile.mkdtemp()) / "run"
    run(campaign, folder)
    counts = open_run(folder).counts()
    shutil.rmtree(folder.parent)
    return counts[Status.FOUND], sum(counts.values()) - counts[Status.REJECTED]


class Covered:
    """Neuron coverage as published: a dictionary, updated unit by unit."""

    def __init__(self, model: Any) -> None:
        self.model, self.layers = model, measured_layers(model, (), "post")
        self.units: dict[tuple[str, int], bool] = {}

    def update(self, image: Tensor) -> None:
        """Mark what one image covers."""
        with torch.no_grad():
            _, seen = self.model.inspect(image, self.layers)
        for layer, values in seen.items():
            output = values[0]
            scaled = (output - output.min()) / (output.max() - output.min()).clamp_min(1e-12)
            for unit in range(scaled.shape[0]):
                key = (layer, unit)
                if float(scaled[unit].mean()) > THRESHOLD and not self.units.get(key, False):
                    self.units[key] = True
                else:
                    self.units.setdefault(key, False)

    def aim(self) -> tuple[str, int]:
        """Any unit that is not covered."""
        open_ = [key for key, done in self.units.items() if not done]
        return random.choice(open_ or list(self.units))


def theirs(models: list[Any], data: Any, seeds: Tensor) -> tuple[int, int]:
    random.seed(0)
    covered = [Covered(model) for model in models]
    for one in covered:
        one.update(data.images(seeds[:1]))
        one.units = dict.fromkeys(one.units, False)
    found = tried = 0
    for seed in seeds.tolist():
        image = data.images(torch.tensor([seed]))
        said = [int(model(image).argmax()) for model in models]
        if len(set(said)) > 1:
            for one in covered:
                one.update(image)
            continue
        tried += 1
        aims = [one.aim() for one in covered]
        for _ in range(STEPS):
            image = image.detach().requires_grad_()
            losses, units = [], []
            for model, (layer, unit) in zip(models, aims, strict=True):
                logits, seen = model.inspect(image, (layer,))
                losses.append(logits[0, said[0]])
                units.append(seen[layer][0, unit].mean())
            total = -LAMBDA1 * losses[0] + sum(losses[1:]) + LAMBDA2 * sum(units)
            (slope,) = torch.autograd.grad(total, image)
            slope = slope / (slope.square().mean().sqrt() + 1e-5)
            masked = torch.zeros_like(slope)
            masked[..., :RECT, :RECT] = slope[..., :RECT, :RECT]
            image = image.detach() + STEP * masked
            with torch.no_grad():
                now = [int(model(image).argmax()) for model in models]
            if len(set(now)) > 1:
                for one in covered:
                    one.update(image)
                found += 1
                break
    return found, tried


if __name__ == "__main__":
    main()
