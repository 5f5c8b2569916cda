"""All coverage criteria in one pass over the MNIST test images and LeNet-5, against the forward pass alone.

Run: python benchmarks/coverage_pass.py [--images 1000 --repeats 1]. One thread; the two take turns, and the ratio is
of the medians. The claims: less than 2 x the forward pass; memory that does not depend on the number of images
(a process each for a tenth of the images and for all of them).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys

import torch

from foible.classifiers.scopes import scope_of
from foible.domains import load_domain
from foible.measuring.measure import cover, criteria_of, profiled
from foible.measuring.suites import Suite, ordinary_suites
from foible.zoo import resolve
from measure import in_turns, write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    told = parser.parse_args()
    torch.set_num_threads(1)
    if told.memory:
        print(json.dumps(peak(told.memory)))
        return
    domain = load_domain("mnist")
    ordinary = ordinary_suites(domain, None, 10_000)
    model = resolve("classifiers", "mnist-lenet5", {}, domain).model
    scope = scope_of(model, next(ordinary.profile.parts()).images[:2])
    profile = profiled(model, ordinary.profile, scope, "benchmark")
    criteria = criteria_of(profile)
    suite = first(ordinary.suite, told.images)
    parts = list(suite.parts())  # reading them is no part of either
    ready = Suite(suite.name, suite.source, lambda: iter(parts))

    def forward() -> None:
        with torch.no_grad():
            for part in parts:
                model(part.images)

    def everything() -> None:
        for criterion in criteria.chosen.values():
            criterion.state = criterion.empty()
        cover(model, ready, criteria.chosen, scope)

    load = os.getloadavg()[0]
    times = in_turns({"forward alone": forward, "forward and all criteria": everything}, told.repeats)
    pairs = zip(times["forward and all criteria"]["all"], times["forward alone"]["all"], strict=True)
    memory = {count: memory_of(count) for count in (told.images // 10, told.images)}
    write(
        "coverage_pass" if told.images == 10_000 else "coverage_pass_small",
        {
            "images": told.images,
            "criteria": len(criteria.chosen),
            "left out": criteria.left_out,
            "seconds": times,
            "ratio of medians": round(
                times["forward and all criteria"]["median"] / times["forward alone"]["median"], 3
            ),
            "median of ratios": round(statistics.median(a / b for a, b in pairs), 3),
            "load": [round(load, 1), round(os.getloadavg()[0], 1)],
            "peak MB by images": memory,
        },
    )


def first(suite: Suite, count: int) -> Suite:
    """The first images of a suite, in whole batches."""

    def parts() -> object:
        left = count
        for part in suite.parts():
            if left <= 0:
                return
            yield part
            left -= len(part.images)

    return Suite(suite.name, suite.source, parts)  # type: ignore[arg-type]


def memory_of(images: int) -> float:
    output = subprocess.run(
        [sys.executable, __file__, "--memory", str(images)], capture_output=True, text=True, check=True
    )
    return float(json.loads(output.stdout.splitlines()[-1])["peak_mb"])


def peak(images: int) -> dict[str, float]:
    """Peak memory of profiling 1,000 images and measuring so many; the images of the set are in memory in any case."""
    domain = load_domain("mnist")
    ordinary = ordinary_suites(domain, None, 1_000)
    model = resolve("classifiers", "mnist-lenet5", {}, domain).model
    scope = scope_of(model, next(ordinary.profile.parts()).images[:2])
    criteria = criteria_of(profiled(model, ordinary.profile, scope, "benchmark"))
    cover(model, first(ordinary.suite, images), criteria.chosen, scope)
    return {"peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}


if __name__ == "__main__":
    main()
