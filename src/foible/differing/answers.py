"""What two classifiers say of the same images, counted exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from foible.errors import RecipeError
from foible.oracles.apart import gap
from foible.protocols import Classifier
from foible.types import Images

BATCH = 256
KEPT = 1000  # disagreements whose images are kept


@dataclass(frozen=True)
class ClassDrift:
    """What became of the images that A takes for one class: how many, how many B names otherwise, and the gaps."""

    label: int
    images: int
    flips: int
    mean_gap: float
    largest_gap: float


@dataclass(frozen=True)
class Answers:
    """The classes that A and B name (N,), how far apart their probabilities are (N,), and what is expected (-1: unknown).

    `images` holds the first thousand images on which they disagree, where somebody will look at them; `origins` tells (N,)
    which images come from the same one and are no independent evidence.
    """

    a: Tensor
    b: Tensor
    gaps: Tensor
    expected: Tensor
    images: Images | None = None
    origins: Tensor | None = None

    def __len__(self) -> int:
        return len(self.a)

    @property
    def differ(self) -> Tensor:
        """Where they name different classes (N,)."""
        return self.a != self.b

    @property
    def disagreements(self) -> int:
        """How many images they name differently."""
        return int(self.differ.sum())

    @property
    def largest_gap(self) -> float | None:
        """The largest difference of any class's probability on any image."""
        return float(self.gaps.max()) if len(self) else None

    def matrix(self, classes: int) -> Tensor:
        """How often A said i where B said j (classes, classes)."""
        return torch.bincount(self.a * classes + self.b, minlength=classes**2).view(classes, classes)

    def categories(self) -> dict[str, int]:
        """Of the disagreements: who was right by the expected class."""
        known, differ = self.expected >= 0, self.differ
        right_a, right_b = self.a == self.expected, self.b == self.expected
        return {
            "only_a_right": int((differ & known & right_a).sum()),
            "only_b_right": int((differ & known & right_b).sum()),
            "both_wrong": int((differ & known & ~right_a & ~right_b).sum()),
            "undecided": int((differ & ~known).sum()),
        }

    def by_class(self) -> list[ClassDrift]:
        """Flips and gaps for every class that A names, in order of class."""
        drifts = []
        for label in self.a.unique().tolist():
            rows = self.a == label
            gaps = self.gaps[rows]
            flips = int((self.differ & rows).sum())
            drifts.append(ClassDrift(label, len(gaps), flips, float(gaps.mean()), float(gaps.max())))
        return drifts

    @classmethod
    def of_scores(cls, a: Tensor, b: Tensor, expected: Tensor) -> Answers:
        """From what they gave (N, classes)."""
        return cls(a.argmax(1), b.argmax(1), gap(a, b), expected)


def ask(a: Classifier, b: Classifier, batches: Iterable[tuple[Images, Tensor]]) -> Answers:
    """Both classifiers on every image; batches are images with the expected classes."""
    parts: list[tuple[Tensor, Tensor, Tensor]] = []
    shown: list[Images] = []
    with torch.inference_mode():
        for images, expected in batches:
            first, second = a(images).cpu(), b(images).cpu()
            parts.append((first, second, expected))
            if sum(map(len, shown)) < KEPT:
                shown.append(images[(first.argmax(1) != second.argmax(1)).to(images.device)].cpu())
    if not parts:
        nothing = torch.empty(0, dtype=torch.long)
        return Answers(nothing, nothing, torch.empty(0, dtype=torch.float64), nothing)
    said = Answers.of_scores(*(torch.cat(column) for column in zip(*parts, strict=True)))
    return replace(said, images=torch.cat(shown)[:KEPT])


def in_batches(total: int, make: Callable[[Tensor], tuple[Images, Tensor]]) -> Iterable[tuple[Images, Tensor]]:
    """Batches of numbered images."""
    return (make(index) for index in torch.arange(total).split(BATCH))


def must_be_comparable(a: Classifier, b: Classifier) -> None:
    """Two classifiers of other classes have nothing to disagree about."""
    if tuple(a.classes) != tuple(b.classes):
        raise RecipeError(
            f"'{a.name}' and '{b.name}' do not name the same classes in the same order: "
            f"{', '.join(a.classes[:4])} ... and {', '.join(b.classes[:4])} ...",
            "both must be for the classes of the domain; say a model's own order with --classes",
        )
