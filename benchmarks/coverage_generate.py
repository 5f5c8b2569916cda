"""Failures per second of processor time: DeepXplore through foible's engine, and a transcription of the published MNIST loop.

Run: python benchmarks/coverage_generate.py [--origins 200] [--repeats 5]. One thread, the two take turns; both drive LeNet-5 from LeNet-1
and LeNet-4 with neuron coverage, occlusion (10 x 10 pixels), lambda1 = 3, lambda2 = 0.1 and 20 steps.

The transcription (twice: as published, and with foible's ball and step so that both do the same) is peikexin9/deepxplore's MNIST/gen_diff.py in torch: one seed at a time, three gradients in one backward pass, all
models asked again after each step, and coverage updated unit by unit in Python. Left out: that it rebuilds Keras models for every
update. As published it takes steps of 10 in images of [0, 1] and counts raw disagreements; how many of these are left once the image is cut to
[0, 1] and rounded is counted too. foible's are inside the ball, rounded, stored as PNG, read back and confirmed, and its time has
everything in it but loading the models.
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
from foible.images import rounded
from foible.store import open_run
from foible.types import Status
from foible.zoo import resolve
from measure import write

MODELS = ("mnist-lenet5", "mnist-lenet1", "mnist-lenet4")
LAMBDA1, LAMBDA2, STEPS, RECT = 3.0, 0.1, 20, 10
PUBLISHED = 10.0  # per step, of a gradient scaled to a root mean square of 1
RADIUS, SHARE = 6.0, 0.1  # the ball, and a step in radii
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
    figures: dict[str, list[dict[str, float]]] = {"foible": [], "published loop": [], "published loop, in the ball": []}
    for turn in range(told.repeats + 1):
        few = max(5, told.origins // 10)  # the published loop is slow: a tenth of the origins, others each time
        seeds = torch.arange(turn * few, (turn + 1) * few)
        for name in figures:
            begin = time.process_time()
            done = ours(campaign) if name == "foible" else theirs(models, data, seeds, "ball" in name)
            taken = time.process_time() - begin
            if turn:
                rate = done["found"] / taken
                figures[name].append(
                    {**done, "cpu": round(taken, 3), "rate": rate, "steps rate": done["steps"] / taken}
                )
    rates = {name: [f["rate"] for f in rows] for name, rows in figures.items()}
    medians = {name: round(statistics.median(r), 2) for name, r in rates.items()}
    steps = {n: statistics.median(f["steps rate"] for f in rows) for n, rows in figures.items()}
    write(
        "coverage_generate",
        {
            "found per CPU second, median": medians,
            "range": {name: [round(min(r), 2), round(max(r), 2)] for name, r in rates.items()},
            "ratio of failures": {n: round(medians["foible"] / max(1e-9, m), 2) for n, m in medians.items()},
            "ratio of steps": {n: round(steps["foible"] / m, 2) for n, m in steps.items()},
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
            "step": SHARE,
            "radius": RADIUS,
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


def ours(campaign: Any) -> dict[str, int]:
    folder = Path(tempfile.mkdtemp()) / "run"
    run(campaign, folder)
    outcomes = [o for o in open_run(folder).outcomes() if o.accepted]
    shutil.rmtree(folder.parent)
    found = sum(o.status is Status.FOUND for o in outcomes)
    return {"found": found, "kept": found, "tried": len(outcomes), "steps": sum(o.rounds for o in outcomes)}


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


def theirs(models: list[Any], data: Any, seeds: Tensor, bounded: bool) -> dict[str, int]:
    random.seed(0)
    covered = [Covered(model) for model in models]
    for one in covered:
        one.update(data.images(seeds[:1]))
        one.units = dict.fromkeys(one.units, False)
    done = {"found": 0, "kept": 0, "tried": 0, "steps": 0}
    for seed in seeds.tolist():
        origin = data.images(torch.tensor([seed]))
        said = answers(models, origin)
        if len(set(said)) > 1:
            for one in covered:
                one.update(origin)
            continue
        done["tried"] += 1
        aims, image = [one.aim() for one in covered], origin
        for _ in range(STEPS):
            done["steps"] += 1
            image = stepped(models, aims, image, origin, said[0], bounded)
            if len(set(answers(models, image))) > 1:
                for one in covered:
                    one.update(image)
                done["found"] += 1
                done["kept"] += len(set(answers(models, rounded(image.clamp(0, 1))))) > 1
                break
    return done


def answers(models: list[Any], image: Tensor) -> list[int]:
    with torch.no_grad():
        return [int(model(image).argmax()) for model in models]


def stepped(models: list[Any], aims: Any, image: Tensor, origin: Tensor, agreed: int, bounded: bool) -> Tensor:
    """One step of the published loop on one image."""
    image = image.detach().requires_grad_()
    losses, units = [], []
    for model, (layer, unit) in zip(models, aims, strict=True):
        logits, seen = model.inspect(image, (layer,))
        losses.append(logits[0, agreed])
        units.append(seen[layer][0, unit].mean())
    total = -LAMBDA1 * losses[0] + sum(losses[1:]) + LAMBDA2 * sum(units)
    (slope,) = torch.autograd.grad(total, image)
    slope = slope / (slope.square().mean().sqrt() + 1e-5)
    masked = torch.zeros_like(slope)
    masked[..., :RECT, :RECT] = slope[..., :RECT, :RECT]
    if not bounded:
        return image.detach() + PUBLISHED * masked
    away = image.detach() - origin + SHARE * RADIUS * masked / masked.norm().clamp_min(1e-12)
    return (origin + away * (RADIUS / away.norm().clamp_min(1e-12)).clamp_max(1)).clamp(0, 1)


if __name__ == "__main__":
    main()
