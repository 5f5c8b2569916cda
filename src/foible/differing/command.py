"""All of `foible diff`: two models, what they say differently, and the baselines beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from foible.campaign import Campaign, Recipe, assemble, load_recipe
from foible.campaign import run as run_campaign
from foible.campaign.run import Listener
from foible.campaign.spec import Part
from foible.classifiers.kinds.recognise import is_own_model
from foible.differing.answers import Answers, ask, in_batches, must_be_comparable
from foible.differing.corpus import Corpus, corpus_of, load_corpus, replay, replay_figures
from foible.domains import load_domain, real_images
from foible.domains.made import MadeImages
from foible.errors import DataError, RecipeError
from foible.images import rounded
from foible.protocols import Classifier, Closable
from foible.store import Run, open_run
from foible.types import RIVAL, TESTED, Images
from foible.zoo import resolve


class Models(NamedTuple):
    """Two models as a recipe names them: tables with `use` and settings."""

    a: Mapping[str, Any]
    b: Mapping[str, Any]


def two_models(a: str, b: str | None, variant: str | None, settings: Mapping[str, Any]) -> Models:
    """Tables of both; B is another model or a variant of A, and settings are said of both where they are the user's own."""
    if (b is None) == (variant is None):
        raise RecipeError(
            "a difference needs two models" if b is None else f"B is '{b}' or a variant of A, not both",
            "name a second model, or --variant int8-weights for a compressed version of the first",
        )
    first = {"use": a, **settings}
    if b is None:
        return Models(first, {**first, "variant": variant})
    return Models(first, {"use": b, **(settings if is_own_model(b, settings) else {})})


def diff_recipe(models: Models, domain: str, generator: str, changes: Mapping[str, Any]) -> Recipe:
    """The campaign that looks for disagreements: at the boundary where A lends gradients, else by breeding."""
    facts = {
        "name": "diff",
        "domain": domain,
        "generator": generator,
        "classifier": dict(models.a),
        "classifiers": {RIVAL: dict(models.b)},
        "oracle": "disagree",
        "search": {"use": "frontier"},
        "baseline": {"attempts": 0},
    }
    return load_recipe(facts, changes)


@dataclass(frozen=True)
class Difference:
    """What two models say differently, and where it was looked for; `real` is None where there are no real images."""

    names: tuple[str, str]
    classes: tuple[str, ...]
    run: Run
    state: str
    found: Answers
    judged: bool
    evaluations: int
    attempts: int
    samples: Answers
    real: Answers | None
    corpus: Corpus

    @property
    def figures(self) -> dict[str, float | None]:
        """Numbers for a gate."""
        real, count = self.real, self.found.disagreements
        return {
            "disagreements": count,
            "found_rate": len({f.attempt for f in self.run.index()}) / self.attempts if self.attempts else None,
            "evaluations_per_disagreement": self.evaluations / count if count else None,
            "largest_gap": self.found.largest_gap,
            **self.found.categories(),
            "random_images": len(self.samples),
            "random_disagreements": self.samples.disagreements,
            "random_largest_gap": self.samples.largest_gap,
            "real_images": len(real) if real else None,
            "real_disagreements": real.disagreements if real else None,
            "real_regressions": real.categories()["only_a_right"] if real else None,
            "real_largest_gap": real.largest_gap if real else None,
        }


FIGURES = (
    "disagreements",
    "found_rate",
    "evaluations_per_disagreement",
    "largest_gap",
    "only_a_right",
    "only_b_right",
    "both_wrong",
    "undecided",
    "random_images",
    "random_disagreements",
    "random_largest_gap",
    "real_images",
    "real_disagreements",
    "real_regressions",
    "real_largest_gap",
)  # what a gate may name


def difference(recipe: Recipe, folder: Path, samples: int = 1000, listen: Listener = lambda _: None) -> Difference:
    """Search for disagreements, and count them on random images and on the real test set."""
    campaign = assembled(recipe)
    a, b = campaign.roles[TESTED].classifier, campaign.roles[RIVAL].classifier
    must_be_comparable(a, b)
    state = run_campaign(campaign, folder, listen)
    run = open_run(folder)
    corpus = corpus_of(run, (a.name, b.name))
    outcomes = list(run.outcomes())
    return Difference(
        (a.name, b.name),
        tuple(a.classes),
        run,
        state,
        corpus.answers,
        bool(campaign.validators),
        sum(o.evaluations for o in outcomes),
        sum(o.rounds > 0 for o in outcomes),
        _random(campaign, a, b, samples),
        _real(campaign, a, b),
        corpus,
    )


def assembled(recipe: Recipe) -> Campaign:
    """The campaign; with `nsga2` in place of `frontier` where A lends no gradients and the search was not chosen."""
    try:
        return assemble(recipe)
    except RecipeError as error:
        if "follows gradients" not in error.message or recipe.search != Part(use="frontier"):
            raise
        return assemble(load_recipe(recipe, {"search": {"use": "nsga2"}}))


def replayed(models: Models, domain: str, data: str | None, file: Path) -> tuple[Corpus, Answers, dict[str, Any]]:
    """A stored corpus asked again of two models: no generator, no search."""
    about = load_domain(domain)
    corpus = load_corpus(file, about.classes, about.shape)
    try:
        real = real_images(about, data)
    except DataError:
        real = None
    with _loaded(models, about, real) as (a, b):
        must_be_comparable(a, b)
        now = replay(corpus, a, b)
    return corpus, now, replay_figures(corpus, now)


@contextmanager
def _loaded(models: Models, about: Any, real: Any) -> Iterator[tuple[Classifier, Classifier]]:
    tables = [{k: v for k, v in table.items() if k != "use"} for table in models]
    live = [resolve("classifiers", m["use"], t, about, real).model for m, t in zip(models, tables, strict=True)]
    try:
        yield live[0], live[1]
    finally:
        for model in live:
            if isinstance(model, Closable):
                model.close()


def _random(campaign: Campaign, a: Classifier, b: Classifier, count: int) -> Answers:
    """Images of random latents, as they would be stored; their classes go in turn, and nobody judged them."""
    generator, classes = campaign.generator, len(campaign.domain.classes)

    def make(index: Tensor) -> tuple[Images, Tensor]:
        labels = index % classes
        latents = generator.sample(labels, campaign.streams.at("diff", int(index[0])))
        images = generator.decode(latents.to(campaign.device), labels.to(campaign.device))
        return rounded(images), torch.full_like(labels, -1)

    with torch.inference_mode():
        return ask(a, b, in_batches(count, make))


def _real(campaign: Campaign, a: Classifier, b: Classifier) -> Answers | None:
    """Every real test image there is; None where the domain has none."""
    data = campaign.data
    if isinstance(data, MadeImages):
        return None
    return ask(
        a,
        b,
        in_batches(len(data.labels), lambda i: (data.images(i).to(campaign.device), data.labels[i])),
    )
