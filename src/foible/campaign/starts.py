"""Starts: the origins that searches begin from, handed out one lane at a time.

Origin number n of a campaign takes the n-th of the pairs (class, target) in turn. Where origins are real images, it takes
the next one of that class in an order shuffled by the campaign seed; otherwise a latent from stream n. A search of K
origins takes K numbers in a row, so attempt k is the same in every campaign with the same seed and data: comparisons are
paired. Origins are rendered with the very settings that the search will use. One that the classifier gets wrong (where
a label is expected), or of which the oracle says failure, is set apart and counted, never searched; so is one that the
validators do not call valid with its label, unless the recipe says origins = "any". Of K the accepted ones fill the places in turn, and
an attempt is over when none is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import Evaluator, Rendered
from foible.campaign.steer import counting
from foible.errors import DataError, RecipeError
from foible.faces import Encoder, Populous, prefers_real
from foible.images import to_bytes, to_images
from foible.objectives.margin import margin
from foible.records import About, Outcome
from foible.types import TESTED, Arm, Latents, Starts, Status

BATCH = 64  # origins drawn at a time


@dataclass(frozen=True)
class Shown:
    """The accepted origins of an attempt as they were seen: kept while its search is under way, for confirmation."""

    sources: tuple[str, ...]
    pixels: NDArray[np.uint8]
    outputs: dict[str, Tensor]


class StartQueue:
    """The attempts of one shard that have not begun."""

    def __init__(self, campaign: Campaign, evaluator: Evaluator, arm: Arm, attempts: tuple[int, ...]) -> None:
        self.campaign, self.evaluator, self.arm = campaign, evaluator, arm
        search = campaign.searches[arm]
        self.count = search.starts if isinstance(search, Populous) else 1
        self.todo = list(attempts)
        self.pairs = class_pairs(campaign)
        self.pools = image_pools(campaign, self.pairs[:, 0].unique().tolist()) if from_real_images(campaign) else None
        self.ready = Starts.none(campaign.generator.space.shape, self.count)
        self.shown: dict[int, Shown] = {}
        self.apart: list[Outcome] = []  # attempts without an origin to search from

    def take(self, most: int) -> Starts:
        """Up to `most` accepted starts, in order of attempt."""
        while len(self.ready) < most and self.todo:
            self._draw()
        taken = self.ready.rows(torch.arange(min(most, len(self.ready))))
        self.ready = self.ready.rows(torch.arange(len(taken), len(self.ready)))
        return taken

    def rendered(self, attempts: Tensor, origins: Tensor) -> Rendered:
        """What origins under way looked like when they were accepted."""
        places = list(zip((self.shown[k] for k in attempts.tolist()), origins.tolist(), strict=True))
        outputs = {role: torch.stack([s.outputs[role][j] for s, j in places]) for role in self.evaluator.shown}
        return Rendered(to_images(np.stack([s.pixels[j] for s, j in places])), outputs)

    def leave(self, attempt: int) -> Shown:
        """Forget the origins of a search that has ended."""
        return self.shown.pop(attempt)

    def _draw(self) -> None:
        turn = max(1, BATCH // self.count)
        attempts, self.todo = torch.tensor(self.todo[:turn]), self.todo[turn:]
        numbers = (attempts[:, None] * self.count + torch.arange(self.count)).flatten()
        labels, targets = self.pairs[numbers % len(self.pairs)].T
        latents, sources = self._latents(numbers, labels)
        shown = self.evaluator.render(latents, labels)
        right = self._right(shown, latents, labels, targets)
        fine = self._judged(shown, labels, right)
        pixels, predicted, accepted = to_bytes(shown.images), shown.outputs[TESTED].argmax(1), fine.tolist()
        begun: dict[int, list[int]] = {}  # attempt: the places of its origins
        for row, attempt in enumerate(attempts.tolist()):
            mine = range(row * self.count, (row + 1) * self.count)
            kept = [place for place in mine if accepted[place]]
            if kept:
                begun[attempt] = [kept[k % len(kept)] for k in range(self.count)]
                continue
            first = mine[0]
            status = Status.REFUSED if bool(right[first : mine[-1] + 1].any()) else Status.REJECTED
            facts = int(labels[first]), sources[first], status, int(predicted[first])
            self.apart.append(Outcome(self.arm, attempt, *facts, target=int(targets[first])))
        if not begun:
            return
        chosen = torch.tensor(list(begun.values()))
        outputs = {role: logits[chosen] for role, logits in shown.outputs.items()}
        for row, (attempt, places) in enumerate(begun.items()):
            named = tuple(sources[place] for place in places)
            self.shown[attempt] = Shown(named, pixels[places], {role: each[row] for role, each in outputs.items()})
        whole = Starts(torch.tensor(list(begun)), latents[chosen], labels[chosen], targets[chosen])
        self.ready = self.ready.joined(whole)

    def _right(self, shown: Rendered, latents: Latents, labels: Tensor, targets: Tensor) -> Tensor:
        """Right by the tested classifier where a label is expected (ties count as right), and no failure already."""
        fine = ~self.evaluator.failed(shown, latents, latents, labels, targets)
        return fine & (margin(shown.outputs[TESTED], labels) >= 0) if self.campaign.oracle.expects else fine

    def _judged(self, shown: Rendered, labels: Tensor, right: Tensor) -> Tensor:
        """Those of them (N,) that the validators accept: as images, and with their label where one is expected."""
        rows = right.nonzero()[:, 0]
        if self.campaign.recipe.origins == "any" or len(rows) == 0:
            return right
        about: About | None = None if self.campaign.oracle.expects else "image"
        said = counting(self.campaign.validators, shown.images[rows], labels[rows], about)
        return right.index_put((rows,), said)

    def _latents(self, numbers: Tensor, labels: Tensor) -> tuple[Latents, list[str]]:
        campaign = self.campaign
        if self.pools is None:
            draws = [
                campaign.generator.sample(y[None], campaign.streams.at("origin", n))
                for n, y in zip(numbers.tolist(), labels, strict=True)
            ]
            return torch.cat(draws), [f"sample {n}" for n in numbers.tolist()]
        turns = (numbers // len(self.pairs)).tolist()
        pools = [self.pools[y] for y in labels.tolist()]
        rows = torch.stack([pool[turn % len(pool)] for pool, turn in zip(pools, turns, strict=True)])
        latents = self.evaluator.encode(campaign.data.images(rows), labels)
        return latents, [f"{campaign.data.source} #{r}" for r in rows.tolist()]


def class_pairs(campaign: Campaign) -> Tensor:
    """The pairs (class, target) that origins go through, (P, 2); the target is -1 where the recipe aims at none."""
    recipe, domain = campaign.recipe, campaign.domain
    classes = [domain.class_index(c) for c in recipe.classes or domain.classes]
    targets = [domain.class_index(c) for c in recipe.targets or ()] or [-1]
    pairs = [(label, target) for target in targets for label in classes if label != target]
    if not pairs:
        raise RecipeError("no class is left to start from", "a class cannot aim at itself: name another in targets")
    return torch.tensor(pairs)


def from_real_images(campaign: Campaign) -> bool:
    """Whether origins are real images: what the recipe says, or else what the generator can and prefers."""
    wanted, generator = campaign.recipe.begins, campaign.generator
    if wanted == "real" and not isinstance(generator, Encoder):
        raise RecipeError(
            f"generator '{generator.name}' cannot start from real images: it has no encoder",
            'pick a VAE or an autoencoder, or write begins = "sampled"',
        )
    return prefers_real(generator) if wanted == "auto" else wanted == "real"


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
