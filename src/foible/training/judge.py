"""Fit a judge: from reference classifiers, readers and real images to a file that says which failures count.

1. Real training images give the places of the classes among the panel's features, typical outlines, and what readers that
   must learn the classes learn.
2. Held-out images are dealt into three parts. On the first: temperatures, what is usual, and the head that tells real
   images (plain and mildly changed) from made-up invalid ones.
3. On the second: the weights of the evidence, with good and bad images near the line (`plausible`), and where the line is. Where
   people were asked about images, the weights are drawn to their answers.
4. On the third: the figures in the card.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import RecipeError
from foible.training.asked import people_asked
from foible.training.augment import Augmentation
from foible.training.foreign import foreign_images
from foible.training.invalid import FITTED, Kind, mixture
from foible.training.judge_figures import figures
from foible.training.plausible import bad_kinds, good_kinds
from foible.training.regression import head_for, places_of_classes, probe, temperatures_for, typical_shapes
from foible.training.weigh import Shown, companies, show, weigh
from foible.types import Images
from foible.validators.evidence import EMBEDDED, Scale
from foible.validators.fitted import Fitted, crew, references
from foible.validators.panel import Panel, Sight
from foible.validators.quality import Quality
from foible.validators.readers import available, reader
from foible.validators.scored import Percentile
from foible.validators.shapes import outlines
from foible.validators.usual import some

BAD = ("twisted", "far decodes", "far samples", "dark", "flat", "blurred", "nonsense", "foreign")
OTHER_DATA = 3000  # real training images from which a reader learns the classes


class JudgeSettings(BaseModel):
    """The `[network]` table of a judge's training recipe."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    foreign: tuple[str, ...] = ("mnist", "fashion")  # domains whose sample images are invalid here
    augment: Augmentation = Augmentation()  # mild changes after which an image is still valid and keeps its label
    kept: int = Field(64, ge=2)  # directions of the panel's features, and of outlines
    hidden: int = Field(32, ge=1)  # units of the head
    outlines: int = Field(150, ge=1)  # typical ones of a class
    upright: bool = False  # images are light drawings, set upright before outlines are compared
    use: tuple[str, ...] = EMBEDDED  # columns of the table that have a say; those of readers always have one
    bad: tuple[str, ...] = BAD  # kinds of images that are invalid here
    same: dict[str, tuple[str, ...]] = {}  # classes that a bad kind leaves as good as they were
    each: int = Field(100, ge=10)  # images of every kind
    training: int = Field(5_000, ge=100)  # real training images that place the classes
    held_out: int = Field(5_000, ge=100)  # real test images, dealt 2 : 1 : 2
    called_invalid: float = Field(0.012, gt=0, lt=0.5)  # real images that the line of validity turns away
    people: str | None = None  # a file in the data folders with people's answers, to which the weights are drawn


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
    """A judge for a domain whose reference classifiers are there; the domain's readers take part if all are installed."""
    if not domain.references:
        raise RecipeError(
            f"domain '{domain.name}' names no reference classifiers",
            "train two or three with `foible train classifier`, and list the files under references in the domain file",
        )
    if unknown := sorted(set(settings.use) - set(EMBEDDED)):
        raise RecipeError(f"there is no evidence '{unknown[0]}'", f"there is: {', '.join(EMBEDDED)}")
    training, testing = real_images(domain, data, "train"), real_images(domain, data, "test")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        first, second, _ = (Deck(testing, i, settings.augment) for i in dealt(testing, settings.held_out, seed))
        parts = _without_weights(domain, settings, training, first, seed)
        good, bad = near_the_line(parts, domain, settings, second)
        everyone = parts.witnesses(parts.readers)
        people = people_asked(domain, settings.people) if settings.people else None
        told = (people, everyone.raw(people.images)) if people else None
        real = everyone.raw(second.images)
        return weigh(parts, good, bad, settings.use, real, settings.called_invalid, told)


def _without_weights(domain: Domain, settings: JudgeSettings, training: RealImages, first: Deck, seed: int) -> Fitted:
    """Everything but the weights of the evidence."""
    classifiers, digests = references(domain.references)
    panel, index = Panel(classifiers), some(training, settings.training, seed)
    real, labels = _sights(panel, training, index), training.labels[index]
    closeness = places_of_classes(real.features, labels, len(domain.classes), settings.kept)
    drawn = torch.cat([outlines(training.images(part), settings.upright) for part in index.split(1000)])
    shapes = typical_shapes(drawn, labels, settings.kept, settings.outlines, settings.upright, seed)
    panel.temperatures = temperatures_for(panel.passes(first.images)[0], first.labels)
    plain = panel(first.images)
    strangers = foreign_images(settings.foreign, domain.shape, len(first.labels) // 4)
    nonsense = torch.cat([first.invalid(FITTED), first.invalid(FITTED), strangers])
    kept = torch.cat([plain.features, panel(first.mild()).features])
    places = closeness.place(torch.cat([kept, panel(nonsense).features]))
    head = head_for(places, _truth(len(kept), len(nonsense)), settings.hidden, seed)
    few = slice(0, 2 * settings.each)
    quality = Quality.of(torch.cat([k(first.images[few], first.labels[few]) for k in good_kinds(domain).values()]))
    parts = Fitted(
        panel, closeness, Percentile.of(closeness(plain)), head, shapes, quality, _no_scale(),
        available(domain.readers), {}, {}, domain.classes, digests, "endures" in settings.use,
    )  # fmt: skip
    parts = replace(parts, learnt=_lessons(parts, domain, settings, training, first))
    return replace(parts, scale=Scale.of(parts.witnesses(parts.readers).raw(first.images[: 6 * settings.each]).table))


def _lessons(
    parts: Fitted, domain: Domain, settings: JudgeSettings, training: RealImages, first: Deck
) -> dict[str, dict[str, Tensor]]:
    """What readers that do not know the classes learn of them, and of good and bad images."""
    learnt = {}
    for key in parts.readers:
        looking = reader(key, domain.classes)
        if not looking.learns:
            continue
        index = some(training, OTHER_DATA, 1)
        classes, classes_bias = probe(looking.look(training.images(index)), training.labels[index])
        images, labels = first.images[: 2 * settings.each], first.labels[: 2 * settings.each]
        made = [[looking.look(k(images, labels)) for k in kinds.values()] for kinds in _kinds(domain, settings)]
        shown = torch.cat([torch.cat(m) for m in made])
        valid, valid_bias = probe(shown, _truth(*(sum(map(len, m)) for m in made)))
        learnt[key] = {"classes": classes, "classes_bias": classes_bias, "valid": valid[0], "valid_bias": valid_bias[0]}
    return learnt


def near_the_line(
    parts: Fitted, domain: Domain, settings: JudgeSettings, deck: Deck
) -> tuple[dict[str, Shown], dict[str, Shown]]:
    """Good and bad images near the line, made of a deck's real ones, with the evidence on them."""
    good, bad = _kinds(domain, settings)
    same = {kind: [domain.class_index(name) for name in names] for kind, names in settings.same.items()}
    made = [show(parts, kinds, deck.images, deck.labels, settings.each, same) for kinds in (good, bad)]
    return made[0], made[1]


def _kinds(domain: Domain, settings: JudgeSettings) -> tuple[dict[str, Kind], dict[str, Kind]]:
    bad = bad_kinds(domain, settings.bad)
    if "foreign" in settings.bad and settings.foreign:
        bad["foreign"] = lambda images, _: foreign_images(settings.foreign, domain.shape, len(images))
    return good_kinds(domain) | {"mild": lambda images, _: settings.augment(images)}, bad


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


def _no_scale() -> Scale:
    return Scale(torch.zeros(()), torch.ones(()))


def measured(
    parts: Fitted, domain: Domain, settings: JudgeSettings, data: str | Path | None, seed: int
) -> dict[str, dict[str, float]]:
    """Figures on the third part of the held-out images, by the readers that are there."""
    testing = real_images(domain, data, "test")
    with torch.random.fork_rng():
        torch.manual_seed(seed + 1)
        deck = Deck(testing, dealt(testing, settings.held_out, seed)[2], settings.augment)
        good, bad = near_the_line(parts, domain, settings, deck)
        real = parts.witnesses(parts.readers).raw(deck.images)
        return {
            crew(present): figures(parts, present, real, deck.labels, good, bad) for present in companies(parts.readers)
        }


def judge_for(recipe: Any, data: str | Path | None) -> tuple[Fitted, dict[str, float], float]:
    """What a training recipe asks for: the judge, its figures, and the seconds it took."""
    begin = time.perf_counter()
    domain, settings = load_domain(recipe.domain), JudgeSettings(**recipe.network)
    parts = fit_judge(domain, settings, data, recipe.fit.seed)
    worth = measured(parts, domain, settings, data, recipe.fit.seed)
    short = {
        company: {"validity_auc": round(f["validity_auc"], 4), "judge_accuracy": round(f["judge_accuracy"], 4)}
        for company, f in worth.items()
    }
    return replace(parts, worth=short), worth[crew(parts.readers)], time.perf_counter() - begin
