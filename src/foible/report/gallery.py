"""The findings shown on the page: a fair choice of them, as pictures that travel inside the file."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from foible.images import Pixels, as_pixels, png, webp
from foible.records import About, Finding, Key
from foible.report.wording import UNKNOWN, count, decimal, percent
from foible.store import Run
from foible.store.answers import Answers
from foible.store.pictures import decoded, pictures
from foible.store.reader import FindingLine
from foible.store.selection import counts
from foible.types import Images

MOST = 200  # findings on one page
BYTES = 8_000_000  # of pictures on one page
LARGE = 96 * 96  # pixels from which a picture is inlined as WebP: the exact PNG is in the run folder
Shown = tuple[Key, int, int]
QUESTIONS: dict[About, str] = {"image": "valid", "label": "label kept", "steadiness": "steady"}
BRIGHTER, DARKER = (214, 48, 49), (33, 111, 219)


@dataclass(frozen=True)
class Card:
    """One finding ready to be shown; pictures that could not be read are None and named in `damage`."""

    key: Key
    label: int
    predicted: int
    confidence: str
    label_confidence: str
    origin_confidence: str
    evaluations: str
    latent_distance: str
    pixel_distance: str
    largest_change: str
    origin: str | None
    failure: str | None
    difference: str | None
    damage: tuple[str, ...]
    image: str
    verdicts: tuple[tuple[str, str], ...]
    first_of_pair: bool

    @property
    def size(self) -> int:
        """Characters of its pictures."""
        return sum(len(uri) for uri in (self.origin, self.failure, self.difference) if uri)


def gallery(run: Run, lines: Iterable[FindingLine], answers: Answers) -> list[Card]:
    """Cards for findings, those that count first: as many as a page can carry."""
    cards: list[Card] = []
    seen: set[tuple[int, int]] = set()
    size = 0
    for key, label, predicted in leading(lines, answers, MOST):
        card = card_of(run, run.finding(key), (label, predicted) not in seen)
        size += card.size
        if cards and size > BYTES:
            break
        seen.add((label, predicted))
        cards.append(card)
    return cards


def leading(lines: Iterable[FindingLine], answers: Answers, most: int) -> list[Shown]:
    """A choice of findings in which those that count come first; where nobody was asked, all count."""
    counting: list[Shown] = []
    others: list[Shown] = []
    for line in lines:
        (counting if counts(line, answers) else others).append((line.key, line.label, line.predicted))
    return [*choose(counting, most), *choose(others, most)][:most]


def choose(pairs: Sequence[Shown], most: int) -> list[Shown]:
    """Up to `most` findings (key, label, predicted), one from each class pair in turn, frequent pairs first."""
    by_pair: dict[tuple[int, int], list[Shown]] = defaultdict(list)
    for item in pairs:
        by_pair[item[1:]].append(item)
    queues = sorted(by_pair.values(), key=lambda queue: (-len(queue), queue[0][1:]))
    longest = len(queues[0]) if queues else 0
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)][:most]


def card_of(run: Run, finding: Finding, first_of_pair: bool = False) -> Card:
    """One finding with its pictures read, compared and encoded."""
    stored = pictures(run, finding)
    origin = None if stored.origin is None else decoded(run, stored.origin)
    failure = None if stored.failure is None else decoded(run, stored.failure)
    changed, largest = None, UNKNOWN
    if origin is not None and failure is not None:
        changed, largest = picture_uri(difference(origin, failure)), percent(float((failure - origin).abs().max()))
    return Card(
        key=finding.key,
        label=finding.label,
        predicted=finding.predicted,
        confidence=percent(finding.confidence),
        label_confidence=percent(finding.probabilities[finding.label]),
        origin_confidence=percent(finding.origin_probabilities[finding.label]),
        evaluations=count(finding.evaluations),
        latent_distance=decimal(finding.latent_distance),
        pixel_distance=decimal(finding.pixel_distance),
        largest_change=largest,
        origin=None if origin is None else picture_uri(as_pixels(origin)),
        failure=None if failure is None else picture_uri(as_pixels(failure)),
        difference=changed,
        damage=stored.damage,
        image=finding.image,
        verdicts=tuple(
            (QUESTIONS[v.about], f"{'yes' if v.accepted else 'no'}, {v.validator} ({v.score:.2f})")
            for v in finding.verdicts
        ),
        first_of_pair=first_of_pair,
    )


def difference(origin: Images, failure: Images) -> Pixels:
    """What changed from (C, H, W) to (C, H, W), as RGBA (H, W, 4): red where brighter, blue where darker.

    Opacity is the size of the change, averaged over channels; the largest change of the image is fully opaque.
    """
    change = (failure - origin).mean(0).numpy()
    strength = np.abs(change) / max(float(np.abs(change).max()), 1e-9)
    colour = np.where(change[..., None] > 0, np.array(BRIGHTER), np.array(DARKER))
    return np.concatenate([colour, np.round(255 * strength[..., None])], axis=2).astype(np.uint8)


def picture_uri(picture: Pixels) -> str:
    """Pixels (H, W), (H, W, 3) or (H, W, 4) as a data URI: PNG, or WebP when large."""
    if picture.shape[0] * picture.shape[1] <= LARGE:
        kind, content = "png", png(picture, optimize=True)
    else:
        kind, content = "webp", webp(picture)
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
