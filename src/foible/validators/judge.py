"""The judge: is it an image of the domain, and does it still show the class that was asked for?

1. Everyone looks: the reference classifiers, the outline, the quality, and the readers that are installed (`evidence`).
2. The table of evidence is weighed in log-odds: validity.
3. Log-probabilities of the classes by the panel and by each reader are added, each as far as it can be trusted: the class.
4. A kept label is a likely class of a valid image.

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
from foible.records import Verdict
from foible.types import Images
from foible.validators.calibration import USUAL, Calibration
from foible.validators.evidence import Evidence, columns
from foible.validators.fitted import crew, fitted
from foible.validators.parts import Weighing, kept_score
from foible.validators.readers import missing
from foible.validators.scored import verdicts
from foible.validators.words import Words


@dataclass(frozen=True)
class Judgement:
    """What the judge says of images, each (N,): scores in [0, 1], what follows from them at the thresholds, and why."""

    validity: Tensor
    valid: Tensor
    label: Tensor  # the likeliest class
    kept_score: Tensor
    kept: Tensor
    ambiguity: Tensor  # how torn people would be between `label` and `rival`: 0 not at all, 1 half and half
    rival: Tensor  # the second likeliest class
    why_valid: tuple[str, ...] = ()
    why_kept: tuple[str, ...] = ()


class Judge:
    """The verdict of a domain's judge.

    Args:
        domain: what the images are meant to be of; it names the judge's model file.
        calibration: a file fitted to people's answers, as `foible judge --refit RUN` or `foible survey report --recalibrate`
            writes it.
        readers: False leaves the installed readers out.
    """

    name = "judge"

    def __init__(self, domain: Domain, calibration: str | Path | None = None, readers: bool = True) -> None:
        self.parts, self.thresholds = fitted(domain), {"image": USUAL, "label": USUAL}
        self.readers = self.parts.present() if readers else ()
        self.witnesses, self.scale = self.parts.witnesses(self.readers), self.parts.scale_for(self.readers)
        self.weighing: Weighing = self.parts.weighings[crew(self.readers)]
        self.digests = dict(self.parts.digests)
        for reader in self.witnesses.readers.values():
            self.digests |= reader.digests
        if calibration is not None:
            people = Calibration.load(Path(calibration))
            self.thresholds = {"image": people.threshold("image"), "label": people.threshold("label")}
            self.weighing = people.reweighed(self.weighing, columns(self.readers))
            self.digests[Path(calibration).name] = sha256(Path(calibration))
        names = tuple(r.name for r in self.witnesses.readers.values())
        self.words = Words(self.parts.classes, len(self.parts.panel.members), names, columns(self.readers))
        again = 2 if self.parts.enduring else 0  # the first classifier also looks at it fainter and blurred
        self.cost = len(self.parts.panel.members) + again + len(self.readers)  # evaluations that one image costs

    @property
    def lacks(self) -> tuple[str, ...]:
        """The readers that it was fitted with and has to do without."""
        return missing(self.parts.readers)

    def company(self) -> str:
        """Who judges, in words; where readers are missing, what that costs and how to get them."""
        names = (f"{len(self.parts.panel.members)} reference classifiers", *self.words.readers)
        text = f"judged by {', '.join(names)}"
        if not self.lacks:
            return text
        here, whole = (self.parts.worth.get(crew(r), {}) for r in (self.readers, self.parts.readers))
        less = "; ".join(f"{k.replace('_', ' ')} {here[k]:.3f} instead of {whole[k]:.3f}" for k in whole if k in here)
        return f'{text}, without {", ".join(self.lacks)}{f": {less}" if less else ""} (pip install "foible[judge]")'

    def __call__(self, images: Images, labels: Tensor) -> list[tuple[Verdict, ...]]:
        """Two verdicts per image."""
        said = self.judgement(images, labels)
        image = verdicts(self.name, "image", said.validity, self.thresholds["image"], said.why_valid)
        label = verdicts(self.name, "label", said.kept_score, self.thresholds["label"], said.why_kept)
        return list(zip(image, label, strict=True))

    def evidence(self, images: Images) -> Evidence:
        """The table of evidence for images (N, C, H, W) in [0, 1]: no line depends on another."""
        raw = self.witnesses.raw(images)
        return Evidence(self.scale(raw.table, columns(self.readers)), raw.sources, raw.seen)

    def judgement(self, images: Images, labels: Tensor | None = None) -> Judgement:
        """Scores and decisions for images (N, C, H, W) in [0, 1].

        Args:
            images: what to judge.
            labels: expected classes (N,); the likeliest class is taken where there is none, or where it is below zero.
        """
        return self.weighed(self.evidence(images), labels)

    def weighed(self, evidence: Evidence, labels: Tensor | None = None) -> Judgement:
        """What follows from the evidence."""
        classes = self.weighing.classes(evidence.sources)
        best = classes.topk(min(2, classes.shape[1]), 1)
        likeliest, rival = best.indices[:, 0], best.indices[:, -1]
        expected = likeliest if labels is None else torch.where(labels < 0, likeliest, labels)
        validity = self.weighing.validity(evidence.table)
        kept = kept_score(validity, classes, expected)
        valid, keeps = validity >= self.thresholds["image"], kept >= self.thresholds["label"]
        return Judgement(
            validity,
            valid,
            likeliest,
            kept,
            keeps,
            torn(best.values),
            rival,
            self.words.of_images(evidence, self.weighing, valid),
            self.words.of_labels(evidence, expected, valid, asked=None if labels is None else labels >= 0),
        )


def torn(best: Tensor) -> Tensor:
    """How divided people would be between the two likeliest classes (N, 2): 4pq of their shares, 0 to 1."""
    if best.shape[1] < 2:
        return torch.zeros(len(best))
    share = best[:, 0] / best.sum(1).clamp_min(1e-9)
    return 4 * share * (1 - share)
