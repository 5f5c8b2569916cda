"""The ordinary confusion matrix of a run's classifier on real images: what a test set shows beside what a search shows.

It is counted once and kept in the run folder, so that report and page can show it without the model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import torch

from foible.campaign.assemble import Campaign
from foible.campaign.replay import reassembled
from foible.faces import Closable
from foible.files import write_whole
from foible.store import Run

BATCH = 256
FILE = "confusion.json"


@dataclass(frozen=True)
class Confusion:
    """How often images of a class (row) were taken for another (column), and where the images come from."""

    source: str
    counts: tuple[tuple[int, ...], ...]

    def share(self, label: int, predicted: int) -> float:
        """Of the images of a class, the share taken for another."""
        total = sum(self.counts[label])
        return self.counts[label][predicted] / total if total else 0.0

    @property
    def total(self) -> int:
        """All images."""
        return sum(map(sum, self.counts))


def confusion(run: Run, trust: bool = False) -> Confusion:
    """The confusion matrix of a run's classifier on its real images: as kept in the run folder, or counted now."""
    if (kept := stored_confusion(run)) is not None:
        return kept
    campaign = reassembled(run, trust=trust)
    try:
        counted = count(campaign)
    finally:
        if isinstance(campaign.classifier, Closable):
            campaign.classifier.close()
    facts = {"source": counted.source, "counts": counted.counts}
    write_whole(run.layout.folder / FILE, json.dumps(facts) + "\n")
    return counted


def stored_confusion(run: Run) -> Confusion | None:
    """The matrix that was counted before; None where there is none, or none that fits the run."""
    path = run.layout.folder / FILE
    try:
        facts = json.loads(path.read_text())
        counts = tuple(tuple(int(n) for n in row) for row in facts["counts"])
        known = Confusion(str(facts["source"]), counts)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    size = len(run.classes)
    return known if len(counts) == size and all(len(row) == size for row in counts) else None


@torch.inference_mode()
def count(campaign: Campaign) -> Confusion:
    """Ask the classifier about every real image of a campaign."""
    data, size = campaign.data, len(campaign.domain.classes)
    counts = torch.zeros(size * size, dtype=torch.long)
    for index in torch.arange(len(data.labels)).split(BATCH):
        said = campaign.classifier(data.images(index).to(campaign.device)).argmax(1).cpu()
        counts += torch.bincount(data.labels[index] * size + said, minlength=size * size)
    rows = counts.view(size, size).tolist()
    return Confusion(data.source, tuple(tuple(row) for row in rows))
