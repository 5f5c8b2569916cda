"""Is B derived from A? Whether it makes A's own mistakes, where unrelated models do not.

Images just across A's boundary are wrong in a way that is A's own: a model trained apart from it mostly still names the class
of the origin there. One that was compressed, pruned or fine-tuned from A mostly says what A says. The score is the share of such
images on which B names A's wrong class, beside the same share for models known to be unrelated:

- p: the rank of B's score among those of the unrelated models, (1 + how many reach it) / (1 + how many there are). It cannot
  be smaller than 1 / (1 + unrelated models), so that a firm answer needs many of them;
- McNemar's exact test, image by image, against the unrelated model that comes closest.

Modelled on ModelDiff (Li et al., ISSTA 2021), which compares decision patterns on test inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from foible.differing.answers import BATCH
from foible.errors import RecipeError
from foible.metrics.mcnemar import exact_mcnemar
from foible.metrics.rates import Rate, rate
from foible.protocols import Classifier
from foible.types import Images

LEVEL = 0.05


@dataclass(frozen=True)
class Likeness:
    """How often a model makes A's mistakes."""

    name: str
    shared: Rate


@dataclass(frozen=True)
class Reuse:
    """B beside unrelated models; `closest` is the p-value against the one that comes closest to it."""

    images: int
    b: Likeness
    unrelated: tuple[Likeness, ...]
    p: float
    closest: float

    @property
    def figures(self) -> dict[str, float | None]:
        """Numbers for a gate."""
        return {
            "reuse_images": self.images,
            "reuse_shared": self.b.shared.share,
            "reuse_unrelated": max(u.shared.share or 0.0 for u in self.unrelated),
            "reuse_p": self.p,
            "reuse_derived": int(self.derived),
        }

    @property
    def derived(self) -> bool:
        """Whether B makes A's mistakes more often than every unrelated model, and not by chance."""
        most = max(u.shared.share or 0.0 for u in self.unrelated)
        return (self.b.shared.share or 0.0) > most and self.closest < LEVEL


def reuse(images: Images, wrong: Tensor, b: Classifier, unrelated: Sequence[Classifier]) -> Reuse:
    """Compare answers on images that A takes for the classes `wrong` (N,)."""
    if not unrelated or not len(images):
        raise RecipeError(
            "whether B is derived from A needs images at A's boundary and models known to be unrelated"
            if unrelated
            else "nobody to compare with: whether B is derived from A shows beside unrelated models only",
            "name models that were trained apart from A: --unrelated MODEL, repeatable",
        )
    alike = [_same(model, images, wrong) for model in (b, *unrelated)]
    mine, others = alike[0], alike[1:]
    strongest = max(others, key=lambda same: int(same.sum()))
    p = (1 + sum(int(o.sum()) >= int(mine.sum()) for o in others)) / (1 + len(others))
    only_mine, only_other = int((mine & ~strongest).sum()), int((strongest & ~mine).sum())
    shares = [
        Likeness(model.name, rate(int(same.sum()), len(images)))
        for model, same in zip((b, *unrelated), alike, strict=True)
    ]
    return Reuse(len(images), shares[0], tuple(shares[1:]), p, exact_mcnemar(only_mine, only_other))


@torch.inference_mode()
def _same(model: Classifier, images: Images, wrong: Tensor) -> Tensor:
    said = torch.cat([model(some).argmax(1).cpu() for some in images.split(BATCH)])
    return said == wrong
