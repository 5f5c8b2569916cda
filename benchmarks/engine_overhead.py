"""Engine overhead: wall time of a campaign over that of a bare loop that decodes and classifies as many images.

Both in one process, alternating, in the same chunk size; the ratio of the medians is what counts.
"""

from __future__ import annotations

import statistics
import tempfile
from functools import partial
from pathlib import Path

import torch

from foible.campaign import Campaign, run
from foible.store import open_run
from foible.types import Status
from measure import mnist_campaign, seconds, write

ATTEMPTS, ROUNDS = 100, 5


@torch.inference_mode()
def bare_loop(campaign: Campaign, images: int, chunk: int) -> None:
    labels = torch.zeros(chunk, dtype=torch.long)
    latents = campaign.generator.sample(labels, torch.Generator().manual_seed(0))
    for _ in range(-(-images // chunk)):
        campaign.classifier(campaign.generator.decode(latents, labels))


def main() -> None:
    campaign = mnist_campaign(attempts=ATTEMPTS)
    whole, bare = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            whole.append(seconds(partial(run, campaign, Path(folder) / "run")))
            opened = open_run(Path(folder) / "run")
            outcomes = list(opened.outcomes())
            evaluations = sum(o.evaluations for o in outcomes)
            chunk = opened.manifest.chunk
        bare.append(seconds(partial(bare_loop, campaign, evaluations, chunk)))
    write(
        "engine_overhead",
        {
            "ratio": round(statistics.median(whole) / statistics.median(bare), 3),
            "campaign_seconds": [round(s, 2) for s in whole],
            "bare_seconds": [round(s, 2) for s in bare],
            "evaluations": evaluations,
            "evaluations_per_second": round(evaluations / statistics.median(whole)),
            "attempts": ATTEMPTS,
            "found": sum(o.status is Status.FOUND for o in outcomes),
            "chunk": chunk,
        },
    )


if __name__ == "__main__":
    main()
