"""Origins per second of `genetic` with `compat` against a transcription of the published loop; same weights, same origins.

Also: do both find equally often and after as many iterations (they should: it is the same search), and how many of the
published loop's failures are still failures when the image is rounded to 8 bits.
"""

from __future__ import annotations

import argparse
import copy
import random
import tempfile
import time
from pathlib import Path

import torch

from foible.campaign import run
from foible.images import rounded
from foible.objectives.margin import margin
from foible.searches.extent import initial_step
from foible.store import open_run
from foible.types import Status
from measure import mnist_campaign, write
from published_loop import search_one_seed


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--extent", choices=["low", "high"], default="high")
    arguments.add_argument("--attempts", type=int, default=100)
    extent, attempts = (chosen := arguments.parse_args()).extent, chosen.attempts
    campaign = mnist_campaign(extent, attempts=attempts)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        run(campaign, Path(folder) / "run")
        ours = time.perf_counter() - begin
        outcomes = [o for o in open_run(Path(folder) / "run").outcomes() if o.accepted]
    generator, classifier = as_published(campaign.generator.network), as_published(campaign.classifier.network.module)
    origins = origin_latents(campaign, generator, outcomes)
    begin, published = time.perf_counter(), []
    random.seed(0)
    torch.manual_seed(0)
    bounds = (float(campaign.generator.space.low), float(campaign.generator.space.high))
    step = initial_step(extent, campaign.generator.space)
    for outcome, origin in zip(outcomes, origins, strict=True):
        published.append(search_one_seed(generator, classifier, origin[None], outcome.label, bounds, step))
    theirs = time.perf_counter() - begin
    write(f"against_published_loop_{extent}", figures(campaign, outcomes, published, ours, theirs))


def as_published(network):
    """A copy as the published scripts use it: plain memory format, and gradients never switched off."""
    return copy.deepcopy(network).to(memory_format=torch.contiguous_format).requires_grad_(True)


def origin_latents(campaign, generator, outcomes):
    rows = torch.tensor([int(o.source.rpartition("#")[2]) for o in outcomes])
    return generator.posterior(campaign.data.images(rows))[0]


@torch.no_grad()
def figures(campaign, outcomes, published, ours, theirs):
    found = [(p, o) for p, o in zip(published, outcomes, strict=True) if p.found]
    images = rounded(torch.stack([p.image for p, _ in found])) if found else torch.empty(0, *campaign.domain.shape)
    labels = torch.tensor([o.label for _, o in found], dtype=torch.long)
    still = int((margin(campaign.classifier(images), labels) < 0).sum()) if found else 0
    count = len(outcomes)
    succeeded = [o for o in outcomes if o.status in (Status.FOUND, Status.LOST)]
    return {
        "speed_up": round(theirs / ours, 2),
        "origins": count,
        "foible": {
            "seconds": round(ours, 1),
            "origins_per_second": round(count / ours, 3),
            "found": len(succeeded),
            "found_after_rounding": sum(o.status is Status.FOUND for o in outcomes),
            "mean_iterations": round(sum(o.rounds for o in outcomes) / count, 2),
            "evaluations": sum(o.evaluations for o in outcomes),
        },
        "published": {
            "seconds": round(theirs, 1),
            "origins_per_second": round(count / theirs, 3),
            "found": len(found),
            "found_after_rounding": still,
            "mean_iterations": round(sum(p.iterations for p in published) / count, 2),
            "evaluations": sum(p.evaluations for p in published),
        },
    }


if __name__ == "__main__":
    main()
