"""All of `foible labels`: from a model and its training data to suspicious pairs of classes and images to relabel.

1. An ordinary run that aims from every class at every other (oracle `targeted` with a share): which origins lean, under
   random perturbations of growing size, towards the other class?
2. How deep the training images lie inside their classes by the model, and how far apart the classes are.
3. The tests of `alarm.py`; with a twin its run beside.
4. Relabel candidates of every pair with an alarm: training images of the two classes, those first that the model puts
   farthest on the other side. An image that it takes for the other class has escaped without a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from foible.borders.alarm import Pair, Suspicion, against_twin, among_pairs, efforts
from foible.borders.depth import Margins, latent_distances, margins_of
from foible.campaign import Campaign, Recipe, assemble, load_recipe
from foible.campaign import run as run_campaign
from foible.campaign.run import Listener
from foible.domains import Domain, RealImages, load_domain, real_images
from foible.errors import RecipeError
from foible.faces import Closable, Encoder
from foible.store import open_run

LEAN = 0.1  # share of the probability: how far towards the other class is an escape
TRIES, BATCH, SPREAD, GROW = 24, 4, 0.5, 1.05  # perturbations grow from 0.5 to 1.5 of what a coordinate varies by
MOST_ENCODED = 5000  # images by which the distance of classes is measured


@dataclass(frozen=True)
class Candidate:
    """A training image that may have the wrong label: its position in the data, and the log-odds of its label."""

    position: int
    label: int
    other: int
    odds: float
    file: str = ""


@dataclass(frozen=True)
class LabelAlarm:
    """Pairs of classes, the most suspicious first, and what to look at."""

    model: str
    twin: str | None
    source: str
    classes: tuple[str, ...]
    images: int
    suspicions: tuple[Suspicion, ...]
    candidates: dict[Pair, tuple[Candidate, ...]]
    complete: bool

    @property
    def alarms(self) -> list[Suspicion]:
        """The pairs that are suspicious beyond chance."""
        return [s for s in self.suspicions if s.alarm]


def alarm_recipe(
    model: Mapping[str, Any], domain: str, generator: str | None, origins: int, changes: Mapping[str, Any]
) -> Recipe:
    """The run that counts leaning escapes from every class towards every other."""
    about = load_domain(domain)
    if not (generator := generator or about.generator):
        raise RecipeError(
            f"domain '{domain}' has no generator of its own",
            f"name one with --generator, or train one: foible train vae --domain {domain}",
        )
    facts = {
        "name": "labels",
        "domain": domain,
        "generator": generator,
        "classifier": dict(model),
        "targets": list(about.classes),
        "oracle": {"use": "targeted", "share": LEAN},
        "search": {"use": "shrink", "tries": TRIES, "batch": BATCH, "spread": SPREAD, "grow": GROW},
        "objective": "margin",
        "ends": "first",
        "keeps": "best",
        "rank": "margin",
        "begins": "real",
        "attempts": origins * len(about.classes) * (len(about.classes) - 1),
        "budget": {"evaluations": (TRIES + 1) * BATCH},
        "validators": [],
        "steadiness": False,
        "baseline": {"attempts": 0},
        "engine": {"lanes": 128, "chunk": 128},
    }
    return load_recipe(facts, changes)


def label_alarm(
    recipe: Recipe, folder: Path, twin: Mapping[str, Any] | None, most: int, listen: Listener = lambda _: None
) -> LabelAlarm:
    """Run, test, and list candidates.

    Args:
        recipe: as made by `alarm_recipe`.
        folder: where the runs go.
        twin: a model trained the same way on clean labels, as a table of a recipe.
        most: candidates to list for each pair with an alarm.
        listen: told how far the runs are.
    """
    campaign = assembled(recipe)
    domain, data = campaign.domain, training_images(campaign.domain, recipe.data)
    try:
        states = [run_campaign(campaign, folder / "run", listen)]
        margins = margins_of(campaign.classifier, data, campaign.device)
    finally:
        _close(campaign)
    taken, depths = efforts(open_run(folder / "run")), pair_depths(margins, len(domain.classes))
    if twin is None:
        apart = latent_distances(campaign.generator, data, len(domain.classes), campaign.device, MOST_ENCODED)
        found = among_pairs(taken, depths, {(a, b): float(apart[a, b]) for a, b in depths})
    else:
        other = assembled(load_recipe(recipe, {"classifier": dict(twin)}))
        try:
            states.append(run_campaign(other, folder / "twin", listen))
        finally:
            _close(other)
        found = against_twin(taken, efforts(open_run(folder / "twin")), depths)
    return LabelAlarm(
        model=campaign.classifier.name,
        twin=None if twin is None else str(twin["use"]),
        source=data.source,
        classes=domain.classes,
        images=len(data.labels),
        suspicions=tuple(found),
        candidates={s.pair: tuple(relabel(margins, s.pair, most, data)) for s in found if s.alarm},
        complete=all(state == "complete" for state in states),
    )


def _close(campaign: Campaign) -> None:
    if isinstance(campaign.classifier, Closable):
        campaign.classifier.close()


def assembled(recipe: Recipe) -> Campaign:
    """The campaign; a generator without an encoder is refused before anything is run."""
    campaign = assemble(recipe)
    if not isinstance(campaign.generator, Encoder):
        raise RecipeError(
            f"generator '{campaign.generator.name}' cannot start from real images: it has no encoder",
            "name a VAE or an autoencoder with --generator",
        )
    return campaign


def training_images(domain: Domain, data: str | None) -> RealImages:
    """The images whose labels are in question: the training split where the data has one."""
    return real_images(domain, data, "train")


def pair_depths(margins: Margins, classes: int) -> dict[Pair, float]:
    """How deep the two classes of every pair lie inside themselves, the mean of both ways."""
    return {(a, b): (margins.depth(a, b) + margins.depth(b, a)) / 2 for a, b in combinations(range(classes), 2)}


def relabel(margins: Margins, pair: Pair, most: int, data: RealImages | None = None) -> list[Candidate]:
    """Images of the two classes, those first that the model puts farthest on the other side of the border."""
    files = getattr(data, "paths", ())
    found = []
    for label, other in (pair, pair[::-1]):
        rows = (margins.labels == label).nonzero()[:, 0]
        odds, order = margins.odds[rows, other].sort(stable=True)
        rows = rows[order]
        found += [
            Candidate(row, label, other, value, str(files[row]) if files else "")
            for row, value in zip(rows[:most].tolist(), odds[:most].tolist(), strict=True)
        ]
    return sorted(found, key=lambda c: (c.odds, c.position))[:most]
