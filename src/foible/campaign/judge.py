"""The judge: a candidate becomes a finding only when its failure survives.

1. The oracle says failure on the image rounded to 8 bits.
2. The PNG is written, read back from disk, and classified again in another batch: still a failure.
3. The validators have spoken. They decide nothing, unless the recipe says stop = "counts".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from foible.campaign.evaluate import Evaluator, Look
from foible.images import read_png
from foible.store import RunWriter
from foible.types import Arm, Finding, Images, Latents, OriginBatch


@dataclass(frozen=True)
class Suspects:
    """Candidates said to fail: one per origin, with the cost at which each was found and what the origin looked like."""

    origins: OriginBatch
    before: Look
    latents: Latents
    evaluations: list[int]
    rounds: list[int]


def judge(evaluator: Evaluator, writer: RunWriter, arm: Arm, suspects: Suspects) -> dict[int, Finding]:
    """The suspects that are findings, by their position."""
    labels = suspects.origins.labels
    look = evaluator.look(suspects.latents, labels)
    confirmed = evaluator.failed(look, suspects.latents, labels).nonzero()[:, 0]
    if len(confirmed) == 0:
        return {}
    origins = suspects.origins.rows(confirmed)
    latents, labels = suspects.latents[confirmed], labels[confirmed]
    before = Look(suspects.before.images[confirmed], suspects.before.logits[confirmed])
    stored, names = _store(writer, arm, origins, before.images, look.images[confirmed])
    second = Look(stored, evaluator.classify(stored))
    still = evaluator.failed(second, latents, labels)
    said = [v(stored, labels) for v in evaluator.campaign.validators]
    verdicts = [tuple(chain.from_iterable(column[i] for column in said)) for i in range(len(labels))]
    if evaluator.campaign.recipe.stop == "counts":
        still = still & torch.tensor([all(v.accepted for v in mine) for mine in verdicts])
    findings = {}
    for i in still.nonzero()[:, 0].tolist():
        position = int(confirmed[i])
        findings[position] = Finding(
            arm=arm,
            attempt=int(origins.attempts[i]),
            label=int(labels[i]),
            predicted=int(second.logits[i].argmax()),
            evaluations=suspects.evaluations[position],
            rounds=suspects.rounds[position],
            origin_probabilities=_probabilities(before.logits[i]),
            probabilities=_probabilities(second.logits[i]),
            latent_distance=float(torch.linalg.vector_norm(latents[i] - origins.latents[i])),
            pixel_distance=float(torch.linalg.vector_norm(stored[i] - before.images[i])),
            latent=latents[i],
            origin_latent=origins.latents[i],
            **names[i],
            verdicts=verdicts[i],
        )
    return findings


def _store(
    writer: RunWriter, arm: Arm, origins: OriginBatch, before: Images, after: Images
) -> tuple[Images, list[dict[str, str]]]:
    """Write origin and failure as PNG and read the failure back."""
    stored, names = [], []
    for attempt, origin, failure in zip(origins.attempts.tolist(), before, after, strict=True):
        stem = f"{attempt:06d}" if arm is Arm.SEARCH else f"{arm}-{attempt:06d}"
        origin_path, _ = writer.save_image(f"{stem}-origin.png", origin)
        path, digest = writer.save_image(f"{stem}-failure.png", failure)
        stored.append(read_png(path, writer.manifest.shape))
        folder = writer.layout.folder
        names.append(
            {
                "image": path.relative_to(folder).as_posix(),
                "origin_image": origin_path.relative_to(folder).as_posix(),
                "image_sha256": digest,
            }
        )
    return torch.stack(stored), names


def _probabilities(logits: Tensor) -> tuple[float, ...]:
    return tuple(round(p, 6) for p in logits.double().softmax(0).tolist())
