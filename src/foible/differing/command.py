"""All of `foible diff`: two models, what they say differently, and the baselines beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from foible.differing.difference import FIGURES, Difference
from foible.differing.filters import filters, sieve
from foible.differing.several import Together, together
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.domains.made import MadeImages
from foible.errors import DataError, RecipeError
from foible.faces import Closable
from foible.images import rounded, to_images
from foible.protocols import Classifier
from foible.store import open_run
from foible.types import RIVAL, TESTED, Images
from foible.zoo import resolve

__all__ = ["FIGURES", "Beside", "Difference", "Models", "diff_recipe", "difference", "two_models"]


class Models(NamedTuple):
    """Models as a recipe names them: tables with `use` and settings; `more` are those beyond two."""

    a: Mapping[str, Any]
    b: Mapping[str, Any]
    more: tuple[Mapping[str, Any], ...] = ()

    @property
    def rivals(self) -> dict[str, dict[str, Any]]:
        """Role -> table of all but A: rival, rival2, rival3 ..."""
        tables = (self.b, *self.more)
        return {RIVAL if k == 1 else f"{RIVAL}{k}": dict(table) for k, table in enumerate(tables, 1)}


def two_models(
    a: str, b: str | None, variant: str | None, settings: Mapping[str, Any], more: Sequence[str] = ()
) -> Models:
    """Tables of all; B is another model or a variant of A, and settings are said of all that are the user's own."""
    if (b is None) == (variant is None):
        raise RecipeError(
            "a difference needs two models" if b is None else f"B is '{b}' or a variant of A, not both",
            "name a second model, or --variant int8-weights for a compressed version of the first",
        )

    def table(name: str) -> dict[str, Any]:
        return {"use": name, **(settings if is_own_model(name, settings) else {})}

    first = {"use": a, **settings}
    tables = [first, {**first, "variant": variant} if b is None else table(b), *map(table, more)]
    apart = _told_apart([str(each["use"]) for each in tables])
    named = [{**each, "name": name} if name else each for each, name in zip(tables, apart, strict=True)]
    return Models(named[0], named[1], tuple(named[2:]))


def _told_apart(references: Sequence[str]) -> list[str | None]:
    """What to call model files that would share a name: model.pt and model.onnx, or v1/model.pt and v2/model.pt."""
    stems = Counter(Path(r).stem for r in set(references))
    files = Counter(Path(r).name for r in set(references))
    return [
        (r if files[Path(r).name] > 1 else Path(r).name)
        if stems[Path(r).stem] > 1 and Path(r).suffix and is_own_model(r, {})
        else None
        for r in references
    ]


def diff_recipe(models: Models, domain: str, generator: str, changes: Mapping[str, Any]) -> Recipe:
    """The campaign that looks for disagreements: at the boundary where A lends gradients, else by breeding.

    With more than two models it breeds, and a disagreement of A with any of them counts.
    """
    rivals = models.rivals
    facts = {
        "name": "diff",
        "domain": domain,
        "generator": generator,
        "classifier": dict(models.a),
        "classifiers": rivals,
        "oracle": {"use": "disagree", "among": [TESTED, *rivals]},
        "search": {"use": "frontier"},
        "baseline": {"attempts": 0},
    }
    if models.more:
        facts |= {"search": {"use": "nsga2"}, "objective": {"use": "divergence", "rivals": list(rivals)}}
    return load_recipe(facts, changes)


@dataclass(frozen=True)
class Beside:
    """What is measured beside the search: random images, filters by name, and the published measures of diversity."""

    samples: int = 1000
    filters: tuple[str, ...] = ()
    published: bool = False


def difference(
    recipe: Recipe, folder: Path, beside: Beside | None = None, listen: Listener = lambda _: None
) -> Difference:
    """Search for disagreements, and count them on random images and on the real test set."""
    beside = beside or Beside()
    campaign = assembled(recipe)
    models = [role.classifier for name, role in campaign.roles.items() if name == TESTED or name.startswith(RIVAL)]
    a, b = campaign.roles[TESTED].classifier, campaign.roles[RIVAL].classifier
    for other in models[1:]:
        must_be_comparable(a, other)
    state = run_campaign(campaign, folder, listen)
    run = open_run(folder)
    corpus, by = corpus_of(run, (a.name, b.name), campaign.validators)
    outcomes = list(run.outcomes())
    sieves = filters(beside.filters, campaign.domain, campaign.data)
    labels = torch.where(corpus.expected >= 0, corpus.expected, corpus.answers.a)
    return Difference(
        names=tuple(m.name for m in models),
        classes=tuple(a.classes),
        run=run,
        state=state,
        corpus=corpus,
        expected_by=by,
        evaluations=sum(o.evaluations for o in outcomes),
        attempts=sum(o.rounds > 0 for o in outcomes),
        samples=_random(campaign, a, b, beside.samples),
        real=_real(campaign, a, b),
        sieved=tuple(sieve(to_images(corpus.images), labels, sieves)),
        together=_together(campaign, models) if len(models) > 2 else None,
        published=beside.published,
    )


GUIDES: tuple[dict[str, Any], ...] = (
    {},
    {"objective": {"use": "between", "guide": RIVAL}},
    {"search": {"use": "nsga2"}},
)


def assembled(recipe: Recipe) -> Campaign:
    """The campaign; where A lends no gradients and the search was not chosen, led by B's, or with `nsga2`."""
    chosen = recipe.search != Part(use="frontier")
    for changes in GUIDES:
        try:
            return assemble(load_recipe(recipe, changes) if changes else recipe)
        except RecipeError as error:
            if chosen or "follows gradients" not in error.message or changes is GUIDES[-1]:
                raise
    raise AssertionError("unreachable")


def loaded(models: Models, domain: str, data: str | None) -> Any:
    """The models alone, in a `with`: no generator, no search."""
    about = load_domain(domain)
    return _loaded(models, about, _real_or_none(about, data))


def replayed(models: Models, domain: str, data: str | None, file: Path) -> tuple[Corpus, Answers, dict[str, Any]]:
    """A stored corpus asked again of two models: no generator, no search."""
    about = load_domain(domain)
    corpus = load_corpus(file, about.classes, about.shape)
    with _loaded(models, about, _real_or_none(about, data)) as live:
        must_be_comparable(live[0], live[1])
        now = replay(corpus, live[0], live[1])
    return corpus, now, replay_figures(corpus, now)


def _real_or_none(about: Domain, data: str | None) -> RealImages | None:
    try:
        return real_images(about, data)
    except DataError:
        return None


@contextmanager
def _loaded(models: Models, about: Domain, real: RealImages | None) -> Iterator[list[Classifier]]:
    live: list[Classifier] = []
    try:
        for table in (models.a, *models.rivals.values()):
            settings = {k: v for k, v in table.items() if k != "use"}
            live.append(resolve("classifiers", table["use"], settings, about, real).model)
        yield live
    finally:
        for model in live:
            if isinstance(model, Closable):
                model.close()


def random_images(campaign: Campaign, count: int) -> Iterator[tuple[Images, Tensor]]:
    """Batches of images of random latents, as they would be stored, and the classes they were made for: all in turn."""
    generator, classes = campaign.generator, len(campaign.domain.classes)

    def make(index: Tensor) -> tuple[Images, Tensor]:
        labels = index % classes
        latents = generator.sample(labels, campaign.streams.at("diff", int(index[0])))
        images = generator.decode(latents.to(campaign.device), labels.to(campaign.device))
        return rounded(images), labels

    return iter(in_batches(count, make))


def _random(campaign: Campaign, a: Classifier, b: Classifier, count: int) -> Answers:
    """What both say of random images; nobody judged them."""
    with torch.inference_mode():
        made = ((images, torch.full_like(labels, -1)) for images, labels in random_images(campaign, count))
        return ask(a, b, made)


def real_batches(campaign: Campaign) -> Iterable[tuple[Images, Tensor]] | None:
    """Every real test image there is; None where the domain has none."""
    data = campaign.data
    if isinstance(data, MadeImages):
        return None
    return in_batches(len(data.labels), lambda i: (data.images(i).to(campaign.device), data.labels[i]))


def _real(campaign: Campaign, a: Classifier, b: Classifier) -> Answers | None:
    batches = real_batches(campaign)
    return None if batches is None else ask(a, b, batches)


def _together(campaign: Campaign, models: list[Classifier]) -> Together | None:
    batches = real_batches(campaign)
    return None if batches is None else together(models, batches)
