"""How good a judge is, where the truth is known: the figures in its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from foible.metrics import auc
from foible.training.weigh import Shown, part_of, scaled
from foible.validators.evidence import Evidence
from foible.validators.fitted import Fitted, crew
from foible.validators.parts import kept_score


def figures(
    parts: Fitted,
    present: Sequence[str],
    real: Evidence,
    labels: Tensor,
    good: Mapping[str, Shown],
    bad: Mapping[str, Shown],
) -> dict[str, float]:
    """Areas under the curve and error rates at the line; `validity_auc` is of good against bad images near the line.

    Args:
        parts: the judge.
        present: the readers that are there.
        real: raw evidence of real images that it has not seen.
        labels: their classes.
        good: images near the line that are valid.
        bad: images near the line that are not.
    """
    weighing, classifiers = parts.weighings[crew(present)], len(parts.panel.members)

    def valid(evidence: Evidence) -> Tensor:
        return weighing.validity(scaled(parts, evidence, present))

    validity = valid(real)
    classes = weighing.classes(part_of(real, parts.readers, present, classifiers).sources)
    near, far = (torch.cat([valid(s.evidence) for s in kinds.values()]) for kinds in (good, bad))
    wrong = {
        "relabelled": kept_score(validity, classes, wrong_at_random(labels, classes.shape[1])),
        "runner_up": kept_score(validity, classes, second_thought(classes, labels)),
    }
    kept = kept_score(validity, classes, labels)
    panel = real.sources[:, 0].argmax(1)
    return {
        "validity_auc": area(near, far),
        "real_called_invalid": share(validity < 0.5),
        "good_called_invalid": share(near < 0.5),
        "invalid_called_valid": share(far >= 0.5),
        "kept_auc": area(kept, wrong["relabelled"]),
        "kept_auc_runner_up": area(kept, wrong["runner_up"]),
        "real_kept": share(kept >= 0.5),
        **{f"{k}_called_kept": share(w >= 0.5) for k, w in wrong.items()},
        "panel_accuracy": share(panel == labels),
        "judge_accuracy": share(classes.argmax(1) == labels),
    }


def wrong_at_random(labels: Tensor, classes: int) -> Tensor:
    """Any other class for every image."""
    return (labels + torch.randint(1, classes, labels.shape)) % classes


def second_thought(classes: Tensor, labels: Tensor) -> Tensor:
    """The class that is likeliest after the right one (N,), by probabilities (N, classes): the hardest wrong label."""
    return classes.scatter(1, labels[:, None], -1.0).argmax(1)


def area(good: Tensor, bad: Tensor) -> float:
    """Area under the curve of scores that should be high for good images."""
    value = auc(torch.cat([good, bad]).tolist(), [True] * len(good) + [False] * len(bad))
    assert value is not None
    return value


def share(hits: Tensor) -> float:
    """Share of true ones."""
    return float(hits.float().mean())
