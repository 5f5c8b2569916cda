"""Does each criterion's own objective lead where it says? Share of chosen obligations covered within 30 steps.

Run: python benchmarks/coverage_surrogates.py [--images 100] [--only nc kmnc]; what was measured of other criteria stays. From MNIST test images that
LeNet-5 gets right, each aims at one obligation that 500 other test images leave open, and takes 30 steps (l2, radius 3, a tenth of it each
and half as far whenever the last one went up, inside [0, 1]) down

    own         the criterion's objective
    published   minus the output of the obligation's unit (of a unit of its layer or trace where it has none)
    none        the margin: lambda2 = 0

and counts as there if it covers the obligation at any step. Obligations are the cheapest, or any that a criterion offers within reach. The objectives
were chosen on images with even numbers; these have odd ones.

What the own objective misses is looked at again: is it *proved* out of reach of the ball (`coverage_reach.py`), is it reached by *more* effort (100 steps
from the image and from two random points of the ball), or by 30 steps in a ball *twice* as large? The rest stays unknown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from coverage_reach import out_of_reach
from foible.classifiers.watched import Watched
from foible.coverage import Batch, Criterion, fitted
from foible.domains import load_domain, real_images
from foible.generators.pixels import Pixels
from foible.measuring.measure import criteria_of
from foible.metrics import rate
from foible.objectives.aims import unit_distance
from foible.objectives.margin import margin
from foible.searches.ball import along, projected, scattered
from foible.types import LatentSpace
from foible.zoo import resolve
from measure import RESULTS, write

STEPS, RADIUS, STEP = 30, 3.0, 0.1
MORE, STARTS = 100, 2
Rule = Callable[[Batch, Tensor], Tensor]


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
    order = 2 * torch.randperm(len(test.labels) // 2, generator=torch.Generator().manual_seed(0)) + 1
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
    setting = {"images": len(images), "steps": STEPS, "radius": RADIUS, "numbers": "odd"}
    known = json.loads(RESULTS.read_text()).get("coverage_surrogates", {}) if RESULTS.is_file() else {}
    same = all(known.get(name) == value for name, value in setting.items())
    write("coverage_surrogates", setting | {"criteria": (known["criteria"] if same else {}) | found})


def shares(watched: Watched, criterion: Criterion, images: Tensor, labels: Tensor, how: Any) -> dict[str, Any]:
    """Of the obligations chosen, how many each rule covers, with Wilson's interval."""
    base = watched.batch(images)
    aims = criterion.aim(base, 1, how, torch.arange(len(images)))
    aimed = aims[:, 0] >= 0
    if not bool(aimed.any()):
        return {"aims": 0}
    images, labels, base, aims = images[aimed], labels[aimed], base.rows(aimed), aims[aimed]
    units = criterion.raised(aims)

    def published(batch: Batch, logits: Tensor) -> Tensor:  # noqa: ARG001
        return unit_distance(criterion, batch.values, units)

    def none(batch: Batch, logits: Tensor) -> Tensor:  # noqa: ARG001
        return margin(logits, labels)

    walk = Walk(watched, criterion, images, aims, base)
    met = {rule.__name__: walk(rule) for rule in (walk.own, published, none)}
    return (
        {"aims": len(images), "different": len(aims.unique())}
        | {name: share(there) for name, there in met.items()}
        | {"missed by own": missed(walk.rows(~met["own"]))}
    )


def share(there: Tensor) -> list[float]:
    got = rate(int(there.sum()), len(there))
    return [round(v, 3) for v in (got.share, got.low, got.high)]


def missed(walk: Walk) -> dict[str, int]:
    """What becomes of obligations that 30 steps do not cover, each counted once, in this order."""
    names = ("proved out of reach", "more effort", "twice the radius", "unknown")
    if not len(walk.images):
        return dict.fromkeys(names, 0)
    proved = out_of_reach(
        walk.criterion, walk.aims, walk.base, walk.images, lambda x: seen(walk.watched, x)[0].values, RADIUS
    )
    dice = torch.rand(STARTS, *walk.images.shape, generator=torch.Generator().manual_seed(1)) * 2 - 1
    starts = [walk.images, *(scattered(walk.images, one, walk.space, "l2", RADIUS) for one in dice)]
    more = torch.stack([walk(walk.own, MORE, begin=start) for start in starts]).any(0)
    assert not bool((proved & more).any()), "what is proved out of reach was reached"
    wide = walk(walk.own, radius=2 * RADIUS) & ~(more | proved)
    parts = (proved, more, wide, ~(proved | more | wide))
    return {name: int(which.sum()) for name, which in zip(names, parts, strict=True)}


@dataclass(frozen=True)
class Walk:
    """Steps down a rule, each image towards what it aims at."""

    watched: Watched
    criterion: Criterion
    images: Tensor
    aims: Tensor
    base: Batch

    def rows(self, which: Tensor) -> Walk:
        """That of some of the images."""
        return Walk(self.watched, self.criterion, self.images[which], self.aims[which], self.base.rows(which))

    def own(self, batch: Batch, logits: Tensor) -> Tensor:  # noqa: ARG002
        """The criterion's objective."""
        return self.criterion.objective(batch, self.aims, self.base)

    @property
    def space(self) -> LatentSpace:
        """Pixels in [0, 1]."""
        return Pixels(tuple(self.images.shape[1:])).space

    def __call__(self, rule: Rule, steps: int = STEPS, radius: float = RADIUS, begin: Tensor | None = None) -> Tensor:
        """Which images cover what they aim at, at any of the steps."""
        now = self.images if begin is None else begin
        met = torch.zeros(len(now), dtype=torch.bool)
        reach, lowest = torch.full((len(now),), STEP * radius), torch.full((len(now),), torch.inf)
        for step in range(steps + 1):
            now = now.detach().requires_grad_()
            batch, logits = seen(self.watched, now)
            if step:
                met |= self.criterion.met(batch, self.aims, self.base)[:, 0]
            values = rule(batch, logits)
            (slope,) = torch.autograd.grad(values.sum(), now, allow_unused=True)
            slope = torch.zeros_like(now) if slope is None else slope
            reach = torch.where(values.detach() > lowest, reach / 2, reach)
            lowest = values.detach()
            moved = now.detach() - reach.view(-1, 1, 1, 1) * along(slope, "l2")
            now = projected(moved, self.images, self.space, "l2", radius)
        return met


def seen(watched: Watched, images: Tensor) -> tuple[Batch, Tensor]:
    """Units and scores, on one graph."""
    logits, shown = watched.inspect(images, watched.layers())
    values, low, high = shown.values()
    assert watched.scope is not None
    return Batch(watched.scope, values, low, high, logits.detach().argmax(1)), logits


if __name__ == "__main__":
    main()
