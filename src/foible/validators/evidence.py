"""All that speaks for or against an image, in one table: a line per image, a column per kind of evidence.

| column | speaks for a valid image |
| --- | --- |
| energy | the reference classifiers know something in it (mean log-sum-exp of their logits; Liu et al., NeurIPS 2020) |
| endures | the first of them still does when it is made fainter and more blurred: what can hardly be made out is lost first |
| certain | they see one class, or one of two |
| nearest | a real image has nearly this outline |
| learned | a small network on their features takes it for real |
| contrast, sharpness, ground | within what good images have; zero there, negative beyond |
| *reader* sees | a reader sees one of the domain's classes |
| *reader* anything | a reader sees anything of the kind it knows |

Every column is set against that of good images (their median is 0, their spread 1) and may speak only so loudly: one
detector that is fooled must not outvote all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from foible.batching import Chunks, side_by_side
from foible.images import blurred
from foible.types import Images
from foible.validators.panel import Panel, Sight
from foible.validators.parts import Closeness, Head, Tensors, logit
from foible.validators.quality import Quality
from foible.validators.readers import Reader
from foible.validators.scored import CHUNK
from foible.validators.shapes import Shapes

EMBEDDED = ("energy", "endures", "certain", "nearest", "learned", "contrast", "sharpness", "ground")
QUALITIES = ("contrast", "sharpness", "ground")
LOUDEST = 4.0  # spreads of good images: no column counts more than this
FAINTER, BLUR = 0.5, 1 / 16  # what an image has to endure: the contrast that is left, a Gaussian as a share of its side
LEAST_VOTE = 1e-3  # a class that no reference classifier votes for is this likely


@dataclass(frozen=True)
class Evidence:
    """What is known of images, a line for each.

    `table` (N, columns) is what speaks for a valid image. `sources` (N, sources, classes) are log-probabilities of the
    classes by the panel and by each reader. `seen` (N, classifiers + readers) is the class that each one sees, -1 = none.
    """

    table: Tensor
    sources: Tensor
    seen: Tensor

    def __getitem__(self, rows: Tensor | slice) -> Evidence:
        return Evidence(self.table[rows], self.sources[rows], self.seen[rows])

    @staticmethod
    def joined(parts: Sequence[Evidence]) -> Evidence:
        """Several tables as one."""
        return Evidence(
            *(torch.cat(column) for column in zip(*((p.table, p.sources, p.seen) for p in parts), strict=True))
        )


@dataclass(frozen=True)
class Scale(Tensors):
    """What the columns are among good images."""

    part: ClassVar[str] = "scale"

    middle: Tensor  # (columns,)
    spread: Tensor  # (columns,)

    @classmethod
    def of(cls, raw: Tensor) -> Scale:
        """From the raw columns of real images (N, columns); a rare outlier must not stretch the scale."""
        half = (raw.quantile(0.84, 0) - raw.quantile(0.16, 0)) / 2
        return cls(raw.median(0).values, torch.maximum(half, raw.std(0) / 2).clamp_min(1e-3))

    def __call__(self, raw: Tensor, columns: Sequence[str]) -> Tensor:
        """Raw columns on this scale, none louder than the loudest; qualities have a scale of their own."""
        even = LOUDEST * torch.tanh((raw - self.middle) / self.spread / LOUDEST)
        own = torch.tensor([c in QUALITIES for c in columns])
        return torch.where(own, raw.clamp_min(-1.5 * LOUDEST), even)


def columns(readers: Sequence[str]) -> tuple[str, ...]:
    """The table's columns with these readers."""
    return (*EMBEDDED, *(f"{key} {sign}" for key in readers for sign in ("sees", "anything")))


@dataclass(frozen=True)
class Witnesses:
    """Everything that looks at an image."""

    panel: Panel
    closeness: Closeness
    head: Head
    shapes: Shapes
    quality: Quality
    readers: Mapping[str, Reader]  # by key, in the order of the table
    learnt: Mapping[str, Mapping[str, Tensor]]  # what readers learnt for the domain
    enduring: bool  # whether `endures` is asked at all: it costs two more passes of one classifier

    def looks(self, images: Images) -> dict[str, Tensor]:
        """What each reader makes of the images: the dear part, which depends on nothing that is fitted."""
        return {key: reader.look(images) for key, reader in self.readers.items()}

    def raw(self, images: Images, looks: Mapping[str, Tensor] | None = None) -> Evidence:
        """The table before it is set against good images; a line does not depend on its neighbours."""
        rows = (images, *(() if looks is None else (looks[key] for key in self.readers)))
        return Evidence.joined(side_by_side(self._of_few, list(zip(*(r.split(CHUNK) for r in rows), strict=True))))

    @torch.inference_mode()
    def _of_few(self, rows: tuple[Tensor, ...]) -> Evidence:
        looks = rows[1:] or tuple(self.looks(rows[0]).values())
        return Evidence(*(t.clone() for t in Chunks(CHUNK)(self._told, rows[0], *looks)))

    def _told(self, images: Images, *looks: Tensor) -> tuple[Tensor, ...]:
        logits, features = self.panel.passes(images)
        votes = self.panel.votes(logits)
        readings = [r.read(k, self.learnt.get(n, {})) for (n, r), k in zip(self.readers.items(), looks, strict=True)]
        signs = [sign[:, None] for r in readings for sign in (r.sees, r.anything)]
        table = torch.cat([self._own(images, Sight(votes, features), logits), self.quality(images), *signs], 1)
        sources = torch.stack([(votes + LEAST_VOTE).log(), *(r.classes for r in readings)], 1)
        return table, sources, torch.cat([logits.argmax(2), *(r.names[:, None] for r in readings)], 1)

    def _own(self, images: Images, sight: Sight, logits: Tensor) -> Tensor:
        learned = logit(self.head(self.closeness.place(sight.features)))
        known = energy(logits)
        endures = self._endures(images) if self.enduring else torch.zeros_like(known)
        return torch.stack([known, endures, logit(sight.best_two), self.shapes(images), learned], 1)

    def _endures(self, images: Images) -> Tensor:
        """Mean energy of the first reference classifier on the images made fainter and on the images blurred (N,)."""
        mean = images.mean((1, 2, 3), keepdim=True)
        worse = (torch.lerp(mean, images, FAINTER), blurred(images, BLUR * images.shape[3]))
        return torch.stack([self.panel.members[0](w).logits.logsumexp(1) for w in worse]).mean(0)


def energy(logits: Tensor) -> Tensor:
    """Mean over the panel of the log-sum-exp of each member's logits (N, R, classes): how much it knows in an image (N,)."""
    return logits.logsumexp(2).mean(1)
