"""Confirmation: a candidate becomes a finding only when its failure survives.

1. The oracle says failure on the image rounded to 8 bits.
2. The image is encoded as PNG, decoded from those bytes, and classified again in another batch: still a failure.
3. Its steadiness is measured, and the validators have spoken. They decide nothing here, unless the recipe says
   steers = true.

Nothing is written: a finding carries the bytes of its files.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from foible.campaign.evaluate import Evaluator, Rendered
from foible.campaign.events import Found
from foible.campaign.steadiness import steadiness
from foible.images import as_pixels, png, read_pixels, to_bytes, to_images
from foible.records import Finding, Key, Probabilities, Verdict, everyone_accepts
from foible.types import TESTED, Arm, Images, Latents

ORIGINS = 256  # whose files are at hand


@dataclass(frozen=True)
class Suspects:
    """Candidates said to fail, with all that a finding will say of them. Everything is in rows, (S, ...).

    `numbers` is how many findings the attempt has already: where the numbers of the next ones begin.
    """

    attempts: Tensor
    numbers: Tensor
    labels: Tensor
    targets: Tensor
    origins: Latents
    latents: Latents
    scores: Tensor
    evaluations: Tensor
    rounds: Tensor
    before: Rendered

    def __len__(self) -> int:
        return len(self.attempts)

    @classmethod
    def joined(cls, parts: Sequence[Suspects]) -> Suspects:
        """Those of several rounds as one."""
        names = [f.name for f in fields(cls) if f.name != "before"]
        columns = {name: torch.cat([getattr(p, name) for p in parts]) for name in names}
        outputs = {role: torch.cat([p.before.outputs[role] for p in parts]) for role in parts[0].before.outputs}
        return cls(**columns, before=Rendered(torch.cat([p.before.images for p in parts]), outputs))


class Shown(NamedTuple):
    """A failure as it was read back from its file, and what is said of it and of its origin."""

    image: Tensor
    png: bytes
    predicted: int
    before: Mapping[str, Probabilities]
    after: Mapping[str, Probabilities]


def confirm(evaluator: Evaluator, arm: Arm, suspects: Suspects) -> list[Found | None]:
    """The finding that each suspect is, or None."""
    found: list[Found | None] = [None] * len(suspects)
    s = suspects
    shown = evaluator.render(s.latents, s.labels)
    rows = evaluator.failed(shown, s.latents, s.origins, s.labels, s.targets).nonzero()[:, 0]
    if len(rows) == 0:
        return found
    files = [png(pixels) for pixels in to_bytes(shown.images[rows]).transpose(0, 2, 3, 1)]
    stored = to_images(np.stack([read_pixels(content, evaluator.campaign.domain.shape) for content in files]))
    second = Rendered(stored, evaluator.classify(stored))
    still = evaluator.failed(second, s.latents[rows], s.origins[rows], s.labels[rows], s.targets[rows])
    verdicts = _verdicts(evaluator, stored, s, rows)
    if evaluator.campaign.recipe.steers:
        still = still & torch.tensor([everyone_accepts(mine) for mine in verdicts])
    before, after = _probabilities(s.before), _probabilities(second)
    found_before: Counter[int] = Counter()
    for i in still.nonzero()[:, 0].tolist():
        row, attempt = int(rows[i]), int(s.attempts[rows[i]])
        number = int(s.numbers[row]) + found_before[attempt]
        found_before[attempt] += 1
        seen = Shown(stored[i], files[i], int(second.outputs[TESTED][i].argmax()), before[row], after[i])
        found[row] = _found(evaluator, arm, s, row, number, seen, verdicts[i])
    return found


def _verdicts(evaluator: Evaluator, images: Images, s: Suspects, rows: Tensor) -> list[tuple[Verdict, ...]]:
    """How steady each failure is, and what the validators say of it."""
    labels = s.labels[rows]
    said = [v(images, labels) for v in evaluator.campaign.validators]
    if evaluator.campaign.recipe.steadiness:
        rest = (s.before.images[rows], s.latents[rows], s.origins[rows], labels, s.targets[rows])
        said = [steadiness(evaluator, images, *rest), *said]
    return [tuple(chain.from_iterable(column[i] for column in said)) for i in range(len(labels))]


def _found(
    evaluator: Evaluator,
    arm: Arm,
    s: Suspects,
    row: int,
    number: int,
    shown: Shown,
    verdicts: tuple[Verdict, ...],
) -> Found:
    origin = s.before.images[row]
    pixels = as_pixels(origin)
    origin_png, origin_digest = _file_of(pixels.tobytes(), pixels.shape)
    attempt = int(s.attempts[row])
    side = "" if arm is Arm.SEARCH else f"{arm}-"
    stem = f"{side}{Key(attempt, number).padded}"
    columns = zip(evaluator.campaign.objective.names, s.scores[row].tolist(), strict=True)
    finding = Finding(
        arm=arm,
        attempt=attempt,
        number=number,
        label=int(s.labels[row]),
        target=int(s.targets[row]),
        predicted=shown.predicted,
        evaluations=int(s.evaluations[row]),
        rounds=int(s.rounds[row]),
        before=shown.before,
        after=shown.after,
        latent_distance=float(torch.linalg.vector_norm(s.latents[row] - s.origins[row])),
        pixel_distance=float(torch.linalg.vector_norm(shown.image - origin)),
        latent=s.latents[row],
        origin_latent=s.origins[row],
        image=f"images/{stem}-failure.png",
        origin_image=f"images/{side}{Key(attempt, 0).padded}-{origin_digest[:12]}-origin.png",
        image_sha256=hashlib.sha256(shown.png).hexdigest(),
        origin_sha256=origin_digest,
        verdicts=verdicts,
        measures={name: value for name, value in columns if value == value},
    )
    return Found(finding, origin_png, shown.png)


@lru_cache(maxsize=ORIGINS)
def _file_of(pixels: bytes, shape: tuple[int, ...]) -> tuple[bytes, str]:
    """An origin as a PNG, and its digest: what is found on the way from it by the dozen shares one file."""
    content = png(np.frombuffer(pixels, np.uint8).reshape(shape))
    return content, hashlib.sha256(content).hexdigest()


def _probabilities(rendered: Rendered) -> list[dict[str, Probabilities]]:
    """What each image is taken for, by role."""
    rows = {role: logits.double().softmax(1).tolist() for role, logits in rendered.outputs.items()}
    return [
        {role: tuple(round(p, 6) for p in each[i]) for role, each in rows.items()} for i in range(len(rendered.images))
    ]
