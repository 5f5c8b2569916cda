"""Does each criterion's own objective lead where it says? Share of chosen obligations covered within 30 steps.

Run: python benchmarks/coverage_surrogates.py [--images 100] [--only nc kmnc]. From MNIST test images that LeNet-5 gets right, each aims at
one obligation that 500 other test images leave open, and takes 30 steps (l2, radius 3, a tenth of it each and half as far whenever
the last one went up, inside [0, 1]) down

    own         the criterion's objective
    published   minus the output of the obligation's unit (of a unit of its layer or trace where it has none)
    none        the margin: lambda2 = 0

and counts as there if it covers the obligation at any step. Obligations are the cheapest, or any that a criterion offers within reach.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from foible.classifiers.watched import Watched
from foible.coverage import Batch, Criterion, fitted
from foible.domains import load_domain, real_images
from foible.generators.pixels import Pixels
from foible.measuring.measure import criteria_of
from foible.metrics import rate
from foible.objectives.aims import unit_distance
from foible.objectives.margin import margin
from foible.searches.ball import along, projected
from foible.zoo import resolve
from measure import write

STEPS, RADIUS, STEP = 30, 3.0, 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=["all"])
    told = parser.parse_args()
    torch.set_num_threads(1)
    domain = load_domain("mnist")
    watched = Watched(resolve("classifiers", "mnist-lenet5", {}, domain).model)
    train, test = real_images(domain, None, "train"), real_images(domain)
    some = torch.randperm(len(train.labels), generator=torch.Generator().manual_seed(0))[:2000]
    profile = fitted(watched.batch(train.images(part)) for part in some.split(250))
    order = torch.randperm(len(test.labels), generator=torch.Generator().manual_seed(0))
    suite = watched.batch(test.images(order[:500]))
    candidates = order[500 : 500 + 2 * told.images]
    right = watched(test.images(candidates)).argmax(1) == test.labels[candidates]
    chosen = candidates[right][: told.images]
    images, labels = test.images(chosen), test.labels[chosen]
    found: dict[str, Any] = {}
    for name, criterion in criteria_of(profile, told.only).chosen.items():
        criterion.absorb(suite)
        found[name] = {how: shares(watched, criterion, images, labels, how) for how in ("cheapest", "random")}
        print(name, found[name], flush=True)
    write("coverage_surrogates", {"images": len(images), "steps": STEPS, "radius": RADIUS, "criteria": found})


def shares(watched: Watched, criterion: Criterion, images: Tensor, labels: Tensor, how: Any) -> dict[str, Any]:
    """Of the obligations chosen, how many each rule covers, with Wilson's interval."""
    base = watched.batch(images)
    aims = criterion.aim(base, 1, how, torch.arange(len(images)))
    aimed = aims[:, 0] >= 0
    if not bool(aimed.any()):
        return {"aims": 0}
    images, labels, base, aims = images[aimed], labels[aimed], base.rows(aimed), aims[aimed]
    units = criterion.raised(aims)

    def own(batch: Batch, logits: Tensor) -> Tensor:  # noqa: ARG001
        return criterion.objective(batch, aims, base)

    def published(batch: Batch, logits: Tensor) -> Tensor:  # noqa: ARG001
        return unit_distance(criterion, batch.values, units)

    def none(batch: Batch, logits: Tensor) -> Tensor:  # noqa: ARG001
        return margin(logits, labels)

    def there(rule: Callable[[Batch, Tensor], Tensor]) -> list[float]:
        got = rate(int(reached(watched, criterion, images, aims, base, rule).sum()), len(images))
        return [round(v, 3) for v in (got.share, got.low, got.high)]

    return {"aims": len(images), "own": there(own), "published": there(published), "none": there(none)}


def reached(
    watched: Watched,
    criterion: Criterion,
    images: Tensor,
    aims: Tensor,
    base: Batch,
    rule: Callable[[Batch, Tensor], Tensor],
) -> Tensor:
    """Which images cover what they aim at, at any of the steps."""
    space, now, met = Pixels(tuple(images.shape[1:])).space, images, torch.zeros(len(images), dtype=torch.bool)
    reach, lowest = torch.full((len(images),), STEP * RADIUS), torch.full((len(images),), torch.inf)
    for step in range(STEPS + 1):
        now = now.detach().requires_grad_()
        batch, logits = seen(watched, now)
        if step:
            met |= criterion.met(batch, aims, base)[:, 0]
        values = rule(batch, logits)
        (slope,) = torch.autograd.grad(values.sum(), now, allow_unused=True)
        slope = torch.zeros_like(now) if slope is None else slope
        reach = torch.where(values.detach() > lowest, reach / 2, reach)
        lowest = values.detach()
        moved = now.detach() - reach.view(-1, 1, 1, 1) * along(slope, "l2")
        now = projected(moved, images, space, "l2", RADIUS)
    return met


def seen(watched: Watched, images: Tensor) -> tuple[Batch, Tensor]:
    """Units and scores, on one graph."""
    logits, shown = watched.inspect(images, watched.layers())
    values, low, high = shown.values()
    assert watched.scope is not None
    return Batch(watched.scope, values, low, high, logits.detach().argmax(1)), logits


if __name__ == "__main__":
    main()
