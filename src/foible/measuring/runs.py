"""What runs cover: failures with their origins, and the origins alone; of several runs, the cross-coverage matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import torch

from foible.domains import Domain
from foible.errors import DataError
from foible.measuring.suites import BATCH, Part, Suite
from foible.store import Run, open_run


def run_suites(folders: Sequence[Path], domain: Domain) -> list[Suite]:
    """Of each run its failures with their origins, and then these origins alone."""
    suites = []
    for folder in folders:
        run = open_run(folder)
        if tuple(run.manifest.shape) != tuple(domain.shape):
            raise DataError(
                f"run '{folder}' has images of shape {tuple(run.manifest.shape)}, the domain '{domain.name}' has {domain.shape}",
                "measure runs of one domain together",
            )
        count = len(run.index())
        if not count:
            raise DataError(f"run '{folder}' has no failures to measure", "leave it out")
        whole = f"{count:,} failures of {folder}, and their starting images"
        suites.append(Suite(run.name, whole, partial(_images, run, True)))
        alone = f"{count:,} starting images"
        suites.append(Suite(f"{run.name}: starting images", alone, partial(_images, run, False)))
    return suites


def _images(run: Run, with_failures: bool) -> Iterator[Part]:
    """Images of a run's findings, in batches."""
    findings = list(run.findings())
    for start in range(0, len(findings), BATCH):
        some = findings[start : start + BATCH]
        labels = torch.tensor([f.label for f in some])
        for names in ([f.origin_image for f in some], [f.image for f in some])[: 1 + with_failures]:
            yield Part(tuple(names), torch.stack([run.image(name) for name in names]), labels)


def aims_text(folders: Sequence[Path]) -> list[str]:
    """What became of the obligations that guided runs aimed at: one line for each classifier."""
    lines = []
    for folder in folders:
        run = open_run(folder)
        objective, shared = run.manifest.recipe["objective"], run.shared()
        tries = int(objective.get("tries", 3))
        for name in shared:
            role, _, kind = name.rpartition(".")
            if kind == "given_up":
                missed, met = int((shared[name] >= tries).sum()), int(shared[f"{role}.met"].sum())
                lines.append(f"{run.name}, {role}: {met:,} obligations met, {missed:,} not reached in the budget")
    return lines
