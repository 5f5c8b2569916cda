"""How good a judge is, where the truth is known: the figures in its card."""

from __future__ import annotations

import time

import torch
from torch import Tensor

from foible.metrics import auc
from foible.types import Images
from foible.validators.fitted import Fitted
from foible.validators.judge import image_evidence, label_evidence
from foible.validators.panel import Sight


def figures(parts: Fitted, images: Images, labels: Tensor, invalid: Images) -> dict[str, float]:
    """Areas under the curve, error rates at the thresholds, and cost.

    Args:
        parts: the judge.
        images: real images that it has not seen.
        labels: their classes.
        invalid: images without a class, of kinds that it has not seen.
    """
    begin = time.perf_counter()
    real = parts.panel(images)
    validity = parts.image(image_evidence(parts, real))
    kept = parts.label(label_evidence(real, labels, validity))
    seconds = time.perf_counter() - begin
    nonsense = parts.panel(invalid)
    invalidity = parts.image(image_evidence(parts, nonsense))
    relabelled = parts.label(label_evidence(real, wrong_at_random(labels, real.votes.shape[1]), validity))
    runner_up = parts.label(label_evidence(real, second_thought(real, labels), validity))
    image, label = parts.thresholds["image"], parts.thresholds["label"]
    return {
        "validity_auc": _auc(validity, invalidity),
        "real_called_invalid": _share(validity < image),
        "invalid_called_valid": _share(invalidity >= image),
        "kept_auc": _auc(kept, relabelled),
        "kept_auc_runner_up": _auc(kept, runner_up),
        "real_kept": _share(kept >= label),
        "relabelled_called_kept": _share(relabelled >= label),
        "runner_up_called_kept": _share(runner_up >= label),
        "panel_accuracy": _share(real.votes.argmax(1) == labels),
        "judge_ms": 1000 * seconds / len(images),
    }


def wrong_at_random(labels: Tensor, classes: int) -> Tensor:
    """Any other class for every image."""
    return (labels + torch.randint(1, classes, labels.shape)) % classes


def second_thought(sight: Sight, labels: Tensor) -> Tensor:
    """The class that the panel thinks likeliest after the right one: the hardest wrong label."""
    return sight.votes.scatter(1, labels[:, None], -1.0).argmax(1)


def _auc(good: Tensor, bad: Tensor) -> float:
    value = auc(torch.cat([good, bad]).tolist(), [True] * len(good) + [False] * len(bad))
    assert value is not None
    return value


def _share(hits: Tensor) -> float:
    return float(hits.float().mean())
