"""The judge: is it an image of the domain, and does it still show the class that was asked for?

It weighs what the other validators see, in log-odds:

image: `learned`, `features`, and how sure the panel is that it shows one class, or one of two.
label: the panel's vote for the expected class, and whether the image is valid at all.

`reconstruction`, `discriminator` and `ssim` have no say: the first two favour images of the generator they belong to,
and the last one likes blank images (docs/judge.md has the measurements).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from foible.digest import sha256
from foible.domains import Domain
from foible.types import Images, Verdict
from foible.validators.calibration import Calibration
from foible.validators.fitted import Fitted, fitted
from foible.validators.panel import Sight
from foible.validators.parts import LEAST, logit
from foible.validators.scored import in_chunks, verdicts


@dataclass(frozen=True)
class Judgement:
    """What the judge says of images, each (N,): scores in [0, 1] and what follows from them at the thresholds."""

    validity: Tensor
    valid: Tensor
    label: Tensor  # the likeliest class
    kept_score: Tensor
    kept: Tensor


class Judge:
    """The fused verdict of a domain.

    Args:
        domain: what the images are meant to be of; it names the judge's model file.
        calibration: a file with thresholds fitted to people's answers, as `foible survey report --recalibrate` writes it.
    """

    name = "judge"

    def __init__(self, domain: Domain, calibration: str | Path | None = None) -> None:
        self.parts = fitted(domain)
        self.thresholds, self.digests = dict(self.parts.thresholds), dict(self.parts.digests)
        if calibration is not None:
            people = Calibration.load(Path(calibration))
            self.thresholds = {"image": people.threshold("image"), "label": people.threshold("label")}
            self.digests[Path(calibration).name] = sha256(Path(calibration))
        self.cost = len(self.parts.panel.members)  # evaluations of a network that one image costs

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """Two verdicts per image."""
        said = self.judgement(images, labels)
        image = verdicts(self.name, "image", said.validity, self.thresholds["image"])
        label = verdicts(self.name, "label", said.kept_score, self.thresholds["label"])
        return list(zip(image, label, strict=True))

    def judgement(self, images: Images, labels: Tensor | None = None) -> Judgement:
        """Scores and decisions for images (N, C, H, W) in [0, 1].

        Args:
            images: what to judge.
            labels: expected classes (N,); the likeliest class is taken where there is none, or where it is below zero.
        """
        labels = torch.full((len(images),), -1) if labels is None else labels
        validity, kept, likeliest = in_chunks(self._scores, images, labels).unbind(1)
        valid, keeps = validity >= self.thresholds["image"], kept >= self.thresholds["label"]
        return Judgement(validity, valid, likeliest.long(), kept, keeps)

    def _scores(self, images: Images, labels: Tensor) -> Tensor:
        """Validity, score of the label, and likeliest class (N, 3)."""
        sight = self.parts.panel(images)
        likeliest = sight.votes.argmax(1)
        validity = self.parts.image(image_evidence(self.parts, sight))
        kept = self.parts.label(label_evidence(sight, torch.where(labels < 0, likeliest, labels), validity))
        return torch.stack([validity, kept, likeliest.float()], 1)


def image_evidence(parts: Fitted, sight: Sight) -> Tensor:
    """What speaks for a valid image (N, 3): the learned head, closeness to real images, one class or one of two."""
    learned = parts.head(parts.closeness.place(sight.features))
    usual = parts.usual(parts.closeness(sight)).clamp_min(LEAST).log()
    return torch.stack([logit(learned), usual, logit(sight.best_two)], 1)


def label_evidence(sight: Sight, labels: Tensor, validity: Tensor) -> Tensor:
    """What speaks for a kept label (N, 2): the vote for it, and that there is something to see."""
    expected = sight.votes.gather(1, labels[:, None])[:, 0]
    return torch.stack([logit(expected), logit(validity)], 1)
