"""Run folders written by hand: what became of every attempt is given, and no network is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from foible.records import Finding, Outcome, Verdict
from foible.store import Run, RunWriter, open_run
from foible.store.database import insert_finding
from foible.store.manifest import Manifest
from foible.types import TESTED, Arm, Status

CLASSES = ("cat", "dog", "frog", "ship")
BUDGET = 100


@dataclass(frozen=True)
class Story:
    """What became of one attempt: `cost` is what it took, None is a rejected origin; `counts` None is not judged."""

    found: bool
    cost: int | None
    counts: bool | None = None


def write_run(folder: Path, stories: Sequence[Story], state: str = "complete", **changes: Any) -> Run:
    """Write a run in which attempt k went as the k-th story tells, and open it.

    Args:
        folder: where it goes.
        stories: one per attempt, in order.
        state: how it was left.
        changes: recipe values that take the place of the usual ones, as in seed=1 or search={"use": "descent"}.
    """
    with RunWriter(folder, _manifest(stories, changes)) as writer:
        with writer.transaction():
            for k, story in enumerate(stories):
                writer.add_outcome(_outcome(k, story))
                if story.found:
                    insert_finding(writer.database, _finding(k, story))
        writer.close_with(state)
    return open_run(folder)


def _manifest(stories: Sequence[Story], changes: dict[str, Any]) -> Manifest:
    part = {name: {"use": name} for name in ("generator", "classifier", "objective", "oracle")}
    judged = any(story.counts is not None for story in stories)
    recipe: dict[str, Any] = {"name": "written", "title": "Written by hand", "domain": "pets", "data": None, "seed": 0}
    recipe |= {"attempts": len(stories), "search": {"use": "genetic"}, "classes": None, **part}
    recipe |= {"budget": {"evaluations": BUDGET, "seconds": None}, "baseline": {"use": "random", "attempts": 0}}
    recipe |= {"validators": [{"use": "judge"}] if judged else []}
    return Manifest(
        recipe=recipe | changes,
        digests={"generator.safetensors": "ab" * 32},
        data="pets, 8 images",
        classes=CLASSES,
        shape=(1, 4, 4),
        chunk=8,
        packing="full",
        device="cpu",
        threads=1,
        versions={"foible": "0"},
        created="2026-01-01T00:00:00+00:00",
    )


def _outcome(attempt: int, story: Story) -> Outcome:
    status = Status.REJECTED if story.cost is None else Status.FOUND if story.found else Status.HELD
    label = attempt % len(CLASSES)
    return Outcome(
        Arm.SEARCH, attempt, label, f"sample {attempt}", status, label, story.cost or 0, 1, findings=int(story.found)
    )


def _finding(attempt: int, story: Story) -> Finding:
    label = attempt % len(CLASSES)
    verdicts = (
        ()
        if story.counts is None
        else (Verdict("judge", True, 0.9, "image"), Verdict("judge", story.counts, 0.5, "label"))
    )
    return Finding(
        arm=Arm.SEARCH,
        attempt=attempt,
        label=label,
        predicted=(label + 1) % len(CLASSES),
        evaluations=story.cost or 0,
        rounds=1,
        before={TESTED: (0.25,) * len(CLASSES)},
        after={TESTED: (0.25,) * len(CLASSES)},
        latent_distance=1.0,
        pixel_distance=1.0,
        latent=torch.ones(2),
        origin_latent=torch.zeros(2),
        image=f"images/{attempt}.png",
        origin_image=f"images/{attempt}-origin.png",
        image_sha256="0" * 64,
        verdicts=verdicts,
    )
