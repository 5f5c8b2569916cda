"""Fit a judge: from reference classifiers and real images to a file that says which failures count.

1. Real training images give the places of the classes among the panel's features.
2. Held-out images are dealt into three parts. On the first: temperatures, what is usual, and the head that tells real
   images (plain and mildly changed) from made-up invalid ones of the kinds `FITTED` and from other domains' images.
3. On the second: the weights of the evidence, with kinds that the head has not seen (`WEIGHED`), and where the line is.
4. On the third: the figures in the card, with kinds that nothing has seen (`MEASURED`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import RecipeError
from foible.training.augment import Augmentation
from foible.training.foreign import foreign_images
from foible.training.invalid import FITTED, MEASURED, WEIGHED, Kind, mixture
from foible.training.judge_figures import figures, second_thought, wrong_at_random
from foible.training.regression import head_for, places_of_classes, temperatures_for, weights_for
from foible.types import Images
from foible.validators.fitted import Fitted, references
from foible.validators.judge import image_evidence, label_evidence
from foible.validators.panel import Panel, Sight
from foible.validators.parts import Fusion, Head, ImageFusion, LabelFusion
from foible.validators.scored import Percentile
from foible.validators.usual import some

F = TypeVar("F", bound=Fusion)


class JudgeSettings(BaseModel):
    """The `[network]` table of a judge's training recipe."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    foreign: tuple[str, ...] = ("mnist", "fashion")  # domains whose sample images are invalid here
    augment: Augmentation = Augmentation()  # mild changes after which an image is still valid and keeps its label
    kept: int = Field(64, ge=2)  # directions of the panel's features
    hidden: int = Field(32, ge=1)  # units of the head
    training: int = Field(12_000, ge=100)  # real training images that place the classes
    held_out: int = Field(10_000, ge=100)  # real test images, dealt 2 : 1 : 2
    called_invalid: float = Field(0.006, gt=0, lt=0.5)  # real images that the line of validity turns away
    called_changed: float = Field(0.004, gt=0, lt=0.5)  # real images that the line of kept labels turns away


class Deck:
    """Real held-out images, and what is made of them."""

    def __init__(self, data: RealImages, index: Tensor, augment: Augmentation) -> None:
        self.images, self.labels, self.augment = data.images(index), data.labels[index], augment

    def mild(self) -> Images:
        """The images after mild changes."""
        return self.augment(self.images).clamp(0, 1)

    def invalid(self, kinds: Mapping[str, Kind]) -> Images:
        """As many images of the kinds in a table, every second one after mild changes, which must not give it away."""
        made = mixture(self.images, self.labels, kinds)
        changed = self.augment(made).clamp(0, 1)
        return torch.where((torch.arange(len(made)) % 2 == 0).view(-1, 1, 1, 1), made, changed)


def fit_judge(domain: Domain, settings: JudgeSettings, data: str | Path | None, seed: int) -> Fitted:
    """A judge for a domain whose reference classifiers are there."""
    if not domain.references:
        raise RecipeError(
            f"domain '{domain.name}' names no reference classifiers",
            "train two or three with `foible train classifier`, and list the files under references in the domain file",
        )
    classifiers, digests = references(domain.references)
    panel = Panel(classifiers)
    training, testing = real_images(domain, data, "train"), real_images(domain, data, "test")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        index = some(training, settings.training, seed)
        real = _sights(panel, training, index)
        closeness = places_of_classes(real.features, training.labels[index], len(domain.classes), settings.kept)

        first, second, _ = (Deck(testing, i, settings.augment) for i in dealt(testing, settings.held_out, seed))
        panel.temperatures = temperatures_for(panel.passes(first.images)[0], first.labels)
        plain = panel(first.images)
        usual = Percentile.of(closeness(plain))
        strangers = foreign_images(settings.foreign, domain.shape, len(first.labels) // 4)
        nonsense = torch.cat([first.invalid(FITTED), first.invalid(FITTED), strangers])
        good = torch.cat([plain.features, panel(first.mild()).features])
        head: Head = head_for(
            closeness.place(torch.cat([good, panel(nonsense).features])),
            _truth(len(good), len(nonsense)),
            settings.hidden,
            seed,
        )

        unweighed = Fitted(panel, closeness, usual, head, _none(ImageFusion, 3), _none(LabelFusion, 2), {}, digests)
        return _weighed(unweighed, second, settings)


def _weighed(parts: Fitted, deck: Deck, settings: JudgeSettings) -> Fitted:
    """Weights of the evidence, and where the line is drawn."""
    shown = (deck.images, deck.mild(), deck.invalid(WEIGHED), deck.invalid(WEIGHED))
    sights = [parts.panel(images) for images in shown]
    evidence = torch.cat([image_evidence(parts, s) for s in sights])
    image = ImageFusion(*weights_for(evidence, _truth(len(evidence) // 2, len(evidence) // 2)))
    image = strict(image, image_evidence(parts, sights[0]), settings.called_invalid)
    validity = [image(image_evidence(parts, s)) for s in sights]
    cases = [
        (sights[0], deck.labels, validity[0]),
        (sights[1], deck.labels, validity[1]),
        (sights[0], other_labels(sights[0], deck.labels), validity[0]),
        (sights[2], deck.labels, validity[2]),
    ]
    evidence = torch.cat([label_evidence(*case) for case in cases])
    label = LabelFusion(*weights_for(evidence, _truth(len(evidence) // 2, len(evidence) // 2)))
    label = strict(label, label_evidence(*cases[0]), settings.called_changed)
    return replace(parts, image=image, label=label, thresholds={"image": 0.5, "label": 0.5})


def strict(fusion: F, evidence: Tensor, rejected: float) -> F:
    """The same fusion with its bias moved: one half becomes as strict as it may be with this share of real images lost.

    It is never made milder.

    Args:
        fusion: weights of the evidence.
        evidence: that of real images (N, evidence).
        rejected: share of them that may score below one half.
    """
    margin = (evidence @ fusion.weights + fusion.bias).quantile(rejected).clamp_min(0)
    return replace(fusion, bias=fusion.bias - margin)


def other_labels(sight: Sight, labels: Tensor) -> Tensor:
    """A wrong label for every image: in turn the panel's second thought, and any other class."""
    turn = torch.arange(len(labels)) % 2 == 0
    return torch.where(turn, second_thought(sight, labels), wrong_at_random(labels, sight.votes.shape[1]))


def dealt(data: RealImages, count: int, seed: int) -> list[Tensor]:
    """Positions of held-out images in three parts, 2 : 1 : 2."""
    index = some(data, count, seed)
    fifth = len(index) // 5
    return [index[: 2 * fifth], index[2 * fifth : 3 * fifth], index[3 * fifth :]]


def _sights(panel: Panel, data: RealImages, index: Tensor) -> Sight:
    parts = [panel(data.images(i)) for i in index.split(1000)]
    return Sight(torch.cat([p.votes for p in parts]), torch.cat([p.features for p in parts]))


def _truth(good: int, bad: int) -> Tensor:
    return torch.cat([torch.ones(good), torch.zeros(bad)])


def _none(kind: Any, evidence: int) -> Any:
    return kind(torch.zeros(evidence), torch.zeros(()))


def measured(
    parts: Fitted, domain: Domain, settings: JudgeSettings, data: str | Path | None, seed: int
) -> dict[str, float]:
    """Figures on the third part of the held-out images."""
    testing = real_images(domain, data, "test")
    with torch.random.fork_rng():
        torch.manual_seed(seed + 1)
        deck = Deck(testing, dealt(testing, settings.held_out, seed)[2], settings.augment)
        return figures(parts, deck.images, deck.labels, deck.invalid(MEASURED))


def judge_for(recipe: Any, data: str | Path | None) -> tuple[Fitted, dict[str, float], float]:
    """What a training recipe asks for: the judge, its figures, and the seconds it took."""
    begin = time.perf_counter()
    domain, settings = load_domain(recipe.domain), JudgeSettings(**recipe.network)
    parts = fit_judge(domain, settings, data, recipe.fit.seed)
    return parts, measured(parts, domain, settings, data, recipe.fit.seed), time.perf_counter() - begin
