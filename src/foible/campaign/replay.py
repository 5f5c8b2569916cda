"""Replay: read findings back from their PNG files and ask a classifier again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from foible.batching import Packing
from foible.campaign.assemble import Campaign, assemble
from foible.campaign.evaluate import Evaluator, Rendered
from foible.campaign.spec import load_recipe
from foible.campaign.trust import must_be_the_same, must_be_trusted
from foible.protocols import Classifier
from foible.records import Finding, Key
from foible.store import Run
from foible.store.pictures import decoded, pictures
from foible.types import TESTED


@dataclass(frozen=True)
class Replayed:
    """What became of one finding: its new prediction, or why it could not be replayed."""

    finding: Finding
    predicted: int | None
    fails: bool
    problem: str = ""


def replay(
    run: Run,
    keys: Sequence[Key] | None = None,
    classifier: Classifier | None = None,
    changes: dict[str, object] | None = None,
    trust: bool = False,
) -> Iterator[Replayed]:
    """Classify stored findings again, straight from disk.

    Args:
        run: the run they belong to.
        keys: which findings; all by default.
        classifier: asked instead of the run's own: which failures does another model share?
        changes: values that take the place of the recipe's, such as another classifier's name.
        trust: run the code that the recipe names although the run was not made here.
    """
    campaign = reassembled(run, classifier, changes, trust)
    evaluator = Evaluator(campaign, run.manifest.chunk, Packing(run.manifest.packing))
    findings = run.findings() if keys is None else iter([run.finding(key) for key in keys])
    for finding in findings:
        stored = pictures(run, finding)
        if stored.failure is None:
            yield Replayed(finding, None, False, stored.damage[0])
            continue
        image = decoded(run, stored.failure)[None]
        shown = Rendered(image, evaluator.classify(image))
        labels, targets = torch.tensor([finding.label]), torch.tensor([finding.target])
        latents = (finding.latent[None], finding.origin_latent[None])
        fails = bool(evaluator.failed(shown, *latents, labels, targets)[0])
        yield Replayed(finding, int(shown.outputs[TESTED][0].argmax()), fails)


def reassembled(
    run: Run, classifier: Classifier | None = None, changes: dict[str, object] | None = None, trust: bool = False
) -> Campaign:
    """The campaign of a run once more, with the very models it was made with and nobody who judges.

    Args:
        run: the run.
        classifier: takes the place of the run's own.
        changes: values that take the place of the recipe's, such as another classifier's name.
        trust: run the code that the recipe names although the run was not made here.
    """
    nobody: dict[str, object] = {"validators": [], "steers": False, "origins": "any"}  # who judges is not asked again
    recipe = load_recipe(run.manifest.recipe, nobody | (changes or {}))
    another = classifier is not None or "classifier" in (changes or {})
    if not trust:
        must_be_trusted(run.layout, _own(recipe.resolved(), another))
    campaign = assemble(recipe, classifier=classifier)
    if not another:
        must_be_the_same(campaign, run.manifest)
    return campaign


def _own(recipe: dict[str, Any], another: bool) -> dict[str, Any]:
    """The part of a recipe that comes from the run: not the classifier where another one is asked for."""
    return {k: v for k, v in recipe.items() if not (another and k == "classifier")}
