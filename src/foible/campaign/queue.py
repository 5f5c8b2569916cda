"""Origins: the starting points of the searches, handed out one lane at a time.

Attempt k takes class k mod C. With an encoder, it takes the next real image of that class in an order shuffled by the
campaign seed; otherwise a latent from the stream of attempt k. So attempt k is the same in every campaign with the same
seed and data: comparisons are paired. Origins are rendered with the very settings that the search will use; one that
the classifier already gets wrong is set apart and counted, never searched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import Evaluator, Look
from foible.errors import DataError
from foible.images import to_bytes, to_images
from foible.protocols import Encoder
from foible.store import RunWriter
from foible.types import Arm, Latents, OriginBatch, Outcome, Status

BATCH = 64  # attempts drawn at a time


@dataclass(frozen=True)
class Shown:
    """An accepted origin as it was seen: kept while its search is under way, for the judge."""

    source: str
    pixels: NDArray[np.uint8]
    logits: Tensor


class OriginQueue:
    """The attempts of one arm that have no outcome yet."""

    def __init__(self, campaign: Campaign, evaluator: Evaluator, writer: RunWriter, arm: Arm) -> None:
        self.campaign, self.evaluator, self.writer, self.arm = campaign, evaluator, writer, arm
        done = writer.done(arm)
        self.todo = [k for k in range(campaign.attempts[arm]) if k not in done]
        self.drawn = len(done)
        self.classes = torch.tensor(
            [campaign.domain.class_index(c) for c in campaign.recipe.classes or campaign.domain.classes]
        )
        self.pools = image_pools(campaign, self.classes.tolist()) if isinstance(campaign.generator, Encoder) else None
        self.checkpointed = writer.checkpointed(arm)
        self.ready: list[OriginBatch] = []
        self.shown: dict[int, Shown] = {}

    @property
    def waiting(self) -> int:
        """Origins drawn and accepted but not yet in a lane."""
        return sum(len(b) for b in self.ready)

    def take(self, most: int) -> OriginBatch:
        """Up to `most` accepted origins, in order of attempt."""
        while self.waiting < most and self.todo:
            self._draw()
        merged = OriginBatch(
            *(
                torch.cat([getattr(b, f) for b in self.ready]) if self.ready else torch.empty(0, dtype=torch.long)
                for f in ("attempts", "labels", "latents")
            )
        )
        self.ready = [merged.rows(torch.arange(most, len(merged)))] if len(merged) > most else []
        return merged.rows(torch.arange(min(most, len(merged))))

    def look(self, attempts: Tensor) -> Look:
        """What origins under way looked like when they were accepted."""
        shown = [self.shown[k] for k in attempts.tolist()]
        return Look(to_images(np.stack([s.pixels for s in shown])), torch.stack([s.logits for s in shown]))

    def leave(self, attempt: int) -> str:
        """Forget an origin whose search has ended; gives where it came from."""
        return self.shown.pop(attempt).source

    def checkpoint(self, attempt: int) -> dict[str, Tensor] | None:
        """The state in which an earlier process left this attempt."""
        return self.writer.checkpoint(self.arm, attempt) if attempt in self.checkpointed else None

    def _draw(self) -> None:
        attempts, self.todo = torch.tensor(self.todo[:BATCH]), self.todo[BATCH:]
        labels = self.classes[attempts % len(self.classes)]
        latents, sources = self._latents(attempts, labels)
        look = self.evaluator.look(latents, labels)
        predicted = look.logits.argmax(1)
        right = predicted == labels
        self.writer.record(
            Outcome(self.arm, int(attempts[i]), int(labels[i]), sources[i], Status.REJECTED, int(predicted[i]))
            for i in (~right).nonzero()[:, 0].tolist()
        )
        self.drawn += len(attempts)
        pixels = to_bytes(look.images)
        for i in right.nonzero()[:, 0].tolist():
            self.shown[int(attempts[i])] = Shown(sources[i], pixels[i].copy(), look.logits[i].clone())
        self.ready.append(OriginBatch(attempts, labels, latents).rows(right.nonzero()[:, 0]))

    def _latents(self, attempts: Tensor, labels: Tensor) -> tuple[Latents, list[str]]:
        campaign = self.campaign
        if self.pools is None:
            draws = [
                campaign.generator.sample(y[None], campaign.streams.at("origin", k))
                for k, y in zip(attempts.tolist(), labels, strict=True)
            ]
            return torch.cat(draws), [f"sample {k}" for k in attempts.tolist()]
        turns = (attempts // len(self.classes)).tolist()
        pools = [self.pools[y] for y in labels.tolist()]
        rows = torch.stack([pool[turn % len(pool)] for pool, turn in zip(pools, turns, strict=True)])
        latents = self.evaluator.encode(campaign.data.images(rows), labels)
        return latents, [f"{campaign.data.source} #{r}" for r in rows.tolist()]


def image_pools(campaign: Campaign, classes: list[int]) -> dict[int, Tensor]:
    """Per class, the positions of its real images in shuffled order."""
    pools = {}
    for label in classes:
        rows = (campaign.data.labels == label).nonzero()[:, 0]
        if len(rows) == 0:
            raise DataError(
                f"{campaign.data.source} has no image of class '{campaign.domain.classes[label]}'",
                "add some, or list the classes to use in the recipe: classes = [...]",
            )
        pools[label] = rows[torch.randperm(len(rows), generator=campaign.streams.at("origins", label))]
    return pools
