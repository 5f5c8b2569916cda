"""Replay: read findings back from their PNG files and ask a classifier again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from foible.batching import Packing
from foible.campaign.assemble import assemble
from foible.campaign.evaluate import Evaluator, Rendered
from foible.campaign.spec import load_recipe
from foible.digest import sha256
from foible.errors import FoibleError
from foible.protocols import Classifier
from foible.store import Run
from foible.types import TESTED, Finding, Key


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
) -> Iterator[Replayed]:
    """Classify stored findings again, straight from disk.

    Args:
        run: the run they belong to.
        keys: which findings; all by default.
        classifier: asked instead of the run's own: which failures does another model share?
        changes: values that take the place of the recipe's, such as another classifier's name.
    """
    campaign = assemble(load_recipe(run.manifest.recipe, changes), classifier=classifier)
    evaluator = Evaluator(campaign, run.manifest.chunk, Packing(run.manifest.packing))
    findings = run.findings() if keys is None else iter([run.finding(key) for key in keys])
    for finding in findings:
        try:
            if sha256(run.layout.folder / finding.image) != finding.image_sha256:
                yield Replayed(finding, None, False, f"image '{finding.image}' has changed since it was stored")
                continue
            image = run.image(finding.image)[None]
        except (FoibleError, OSError) as error:
            yield Replayed(finding, None, False, f"image '{finding.image}': {getattr(error, 'message', error)}")
            continue
        shown = Rendered(image, evaluator.classify(image))
        labels, targets = torch.tensor([finding.label]), torch.tensor([finding.target])
        latents = (finding.latent[None], finding.origin_latent[None])
        fails = bool(evaluator.failed(shown, *latents, labels, targets)[0])
        yield Replayed(finding, int(shown.outputs[TESTED][0].argmax()), fails)
