"""Questions about two models that need no search for disagreements, or one of another kind: parity, reuse, a selector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from foible.campaign import assemble, load_recipe
from foible.campaign import run as run_campaign
from foible.campaign.run import Listener
from foible.differing.command import Models, loaded
from foible.differing.difference import Difference
from foible.differing.parity import Parity, parity
from foible.differing.reuse import Reuse, reuse
from foible.differing.selection import worth_asking
from foible.differing.selector import Selector, confidences, measured_selector
from foible.domains import load_domain, real_images
from foible.errors import ModelError, RecipeError
from foible.metrics.diversity import flat
from foible.store import open_run
from foible.survey.make import Survey, make_survey
from foible.training.features import Features, features_for
from foible.training.realism import Realism, feature_distance
from foible.types import Images
from foible.zoo import entries

IMAGES = 256  # real images that drift is measured on
STEPS = {"use": "descent", "steady": False, "keep": 0.1}  # how A's boundary is crossed
TOGETHER = 64


def parity_of(models: Models, domain: str, data: str | None, count: int = IMAGES) -> tuple[Parity, tuple[str, ...]]:
    """The map of drift on real images, spread over the test set, and the classes."""
    real = real_images(load_domain(domain), data)
    rows = torch.linspace(0, len(real.labels) - 1, min(count, len(real.labels))).long()
    with loaded(models, domain, data) as live:
        return parity(live, real.images(rows)), tuple(live[0].classes)


def reuse_of(
    models: Models,
    unrelated: Sequence[str],
    recipe_facts: dict[str, object],
    folder: Path,
    listen: Listener = lambda _: None,
) -> Reuse:
    """Whether B is derived from A; without names, the zoo's other classifiers of the domain stand for unrelated ones."""
    domain = str(recipe_facts["domain"])
    names = list(unrelated) or zoo_others(domain, {str(models.a["use"]), str(models.b["use"])})
    facts = {**recipe_facts, "name": "reuse", "classifier": dict(models.a), "search": STEPS, "validators": []}
    campaign = assemble(load_recipe(facts | {"baseline": {"attempts": 0}, "steadiness": False}))
    run_campaign(campaign, folder, listen)
    run = open_run(folder)
    found = list(run.findings())
    images = torch.stack([run.image(f.image) for f in found]) if found else torch.empty(0, *run.manifest.shape)
    wrong = torch.tensor([f.predicted for f in found], dtype=torch.long)
    others = Models(models.b, models.b, tuple({"use": name} for name in names))
    data = recipe_facts.get("data")
    with loaded(others, domain, None if data is None else str(data)) as live:
        return reuse(images, wrong, live[0], live[2:])


def zoo_others(domain: str, apart: set[str]) -> list[str]:
    """The zoo's classifiers of a domain but these, those of the judge included."""
    known = [e for e in entries().values() if e.role == "classifiers" and e.domain == domain]
    return [e.name for e in known if e.name not in apart and "teacher" not in e.name]


def selector_of(difference: Difference, domain: str) -> Selector:
    """A run-time selector trained and measured on the disagreements whose truth is known."""
    images, corpus = difference.images, difference.corpus
    features, name = _features(images, domain)
    sure = (confidences(corpus.tested), confidences(corpus.rival))
    return measured_selector(features, name, difference.found, *sure)


def _features(images: Images, domain: str) -> tuple[Tensor, str]:
    """What a network of the domain sees in images; their pixels where there is none."""
    try:
        extract: Features = features_for(load_domain(domain))
    except ModelError:
        return flat(images), "pixels"
    with torch.inference_mode():
        return torch.cat([extract(some) for some in images.split(TOGETHER)]), extract.name


def realism_of(difference: Difference, domain: str, data: str | None = None) -> Realism:
    """FID and KID of the disagreements against as many real images, in features that are named."""
    real = real_images(load_domain(domain), data)
    count = min(len(difference.images), len(real.labels))
    rows = torch.linspace(0, len(real.labels) - 1, count).long()
    made, name = _features(difference.images, domain)
    return feature_distance(_features(real.images(rows), domain)[0], made, name)


def survey_of(difference: Difference, count: int, page: Path, data: str | None = None) -> Survey:
    """A survey page of the disagreements whose truth is unknown, where an answer pays most."""
    keys = [f.key for f in difference.run.findings()]
    chosen = worth_asking(difference.found, count)
    if not chosen:
        raise RecipeError("the truth of every disagreement is known", "there is nothing to ask people about")
    return make_survey(difference.run, page, len(chosen), order="shuffled", data=data, only={keys[i] for i in chosen})
