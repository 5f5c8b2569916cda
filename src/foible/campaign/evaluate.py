"""Evaluate candidates: decode, classify and score, chunk by chunk, keeping only what the search needs.

Images do not outlive their chunk, so memory does not grow with the number of candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.batching import Chunks
from foible.campaign.assemble import Campaign
from foible.errors import ModelError
from foible.images import rounded
from foible.protocols import Encoder, Validator
from foible.types import Evaluation, Feedback, Images, Latents

JUDGE_CHUNK = 4  # confirmations come a few at a time: a small fixed shape wastes little on padding


@dataclass(frozen=True)
class Look:
    """What a few latents look like after 8-bit rounding: images (N, C, H, W) and logits (N, classes)."""

    images: Images
    logits: Tensor


def counts(validators: Sequence[Validator], images: Images, labels: Tensor) -> list[bool]:
    """Whether every validator accepts an image and its label, image by image."""
    shown, labels = rounded(images.cpu()), labels.cpu()
    said = [v(shown, labels) for v in validators]
    return [all(verdict.accepted for one in column for verdict in one) for column in zip(*said, strict=True)]


class Evaluator:
    """Runs a campaign's networks in chunks of one shape; everything comes back on the CPU."""

    def __init__(self, campaign: Campaign, chunk: int) -> None:
        self.campaign = campaign
        self.chunks = Chunks(chunk)
        self.few = Chunks(min(JUDGE_CHUNK, chunk))

    def __call__(self, latents: Latents, labels: Tensor) -> Feedback:
        """Scores and failures of candidates."""
        scores, failed, looks = self._run(self.chunks, self._score, latents, labels)
        if not bool(torch.isfinite(scores).all()):
            raise ModelError(
                f"classifier '{self.campaign.classifier.name}' gave NaN or infinite scores for {int((~torch.isfinite(scores)).sum())} candidates",
                "an image in [0, 1] must give finite scores: look for a log or a division in the model",
            )
        return Feedback(scores, failed, looks)

    def look(self, latents: Latents, labels: Tensor) -> Look:
        """Images of latents as they would be stored, and what the classifier says of them."""
        return Look(*self._run(self.few, self._look, latents, labels))

    def classify(self, images: Images) -> Tensor:
        """Logits of a few images."""
        return self._run(self.few, lambda x: (self.campaign.classifier(x),), images)[0]

    def encode(self, images: Images, labels: Tensor) -> Latents:
        """Latents of real images."""
        generator = self.campaign.generator
        assert isinstance(generator, Encoder)
        return self._run(self.few, lambda x, y: (generator.encode(x, y),), images, labels)[0]

    def failed(self, look: Look, latents: Latents, labels: Tensor) -> Tensor:
        """What the oracle says of images that have been looked at."""
        return self.campaign.oracle(
            Evaluation(latents, look.images, labels, {self.campaign.classifier.name: look.logits})
        )

    def _score(self, latents: Latents, labels: Tensor) -> tuple[Tensor, ...]:
        campaign = self.campaign
        images = campaign.generator.decode(latents, labels)
        evaluation = Evaluation(latents, images, labels, {campaign.classifier.name: campaign.classifier(images)})
        scores, failed = campaign.objective(evaluation), campaign.oracle(evaluation)
        looks = torch.zeros(len(failed), dtype=torch.long, device=failed.device)
        if campaign.recipe.stop != "counts" or not bool(failed.any()):
            return scores, failed, looks
        return self._walled(images, labels, scores, failed, looks)

    def _walled(
        self, images: Images, labels: Tensor, scores: Tensor, failed: Tensor, looks: Tensor
    ) -> tuple[Tensor, ...]:
        """Failures that do not count are none, and score as badly as they scored well: the search turns back.

        Only failing candidates are shown to the validators; each look is counted.
        """
        suspects = failed.nonzero()[:, 0]
        count = torch.tensor(counts(self.campaign.validators, images[suspects], labels[suspects]), device=failed.device)
        turned_away = suspects[~count]
        scores[turned_away] = scores[turned_away].abs() + 1
        failed[turned_away] = False
        looks[suspects] = sum(getattr(v, "looks", 1) for v in self.campaign.validators)
        return scores, failed, looks

    def _look(self, latents: Latents, labels: Tensor) -> tuple[Tensor, ...]:
        images = rounded(self.campaign.generator.decode(latents, labels))
        return images, self.campaign.classifier(images)

    @torch.inference_mode()
    def _run(self, chunks: Chunks, function: Callable[..., tuple[Tensor, ...]], *rows: Tensor) -> tuple[Tensor, ...]:
        device = self.campaign.device
        return chunks(lambda *c: tuple(t.cpu() for t in function(*[x.to(device) for x in c])), *rows)
