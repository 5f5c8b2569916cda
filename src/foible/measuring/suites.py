"""Suites of images, handed out in batches: real images of a domain, or whatever lies in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from foible.domains import Domain, RealImages, real_images
from foible.errors import DataError
from foible.judging.sources import in_batches, submitted
from foible.types import Images

BATCH = 250  # images at a time: few enough for memory, and about as quick as any


@dataclass(frozen=True)
class Part:
    """Some images of a suite, with their names and expected classes (-1 where unknown)."""

    names: tuple[str, ...]
    images: Images
    labels: Tensor


@dataclass(frozen=True)
class Suite:
    """Images that can be gone through more than once."""

    name: str
    source: str
    parts: Callable[[], Iterator[Part]]


def real_suite(name: str, real: RealImages, index: Tensor) -> Suite:
    """Some of a domain's real images."""

    def parts() -> Iterator[Part]:
        for rows in index.split(BATCH):
            yield Part(tuple(f"#{i}" for i in rows.tolist()), real.images(rows), real.labels[rows])

    return Suite(name, f"{len(index):,} images of {real.source}", parts)


def folder_suite(path: Path, domain: Domain) -> Suite:
    """The images at a path: a folder, a class-per-folder tree, an npz, or one picture."""

    def parts() -> Iterator[Part]:
        for batch in in_batches(submitted(path, domain), BATCH):
            labels = torch.tensor([-1 if e is None else e for e in batch.expected])
            yield Part(batch.names, batch.images, labels)

    if not path.exists():
        raise DataError(f"no images at '{path}'", "give a folder, an npz file, or a picture")
    return Suite(path.name or str(path), str(path), parts)


@dataclass(frozen=True)
class Ordinary:
    """Real images for profiling, for measuring, and for the control; no image is in two of them."""

    profile: Suite
    suite: Suite
    control: RealImages
    control_index: Tensor  # those that the control may be drawn from


def ordinary_suites(domain: Domain, data: str | Path | None, count: int) -> Ordinary:
    """What a domain has: training images to profile on, others of them as control, and test images to measure.

    Where there is only one set (a sample, a tree without splits), it is dealt out: every third image to each.

    Args:
        domain: whose images.
        data: where they are; None looks around.
        count: the most to profile on.
    """
    train, test = real_images(domain, data, "train"), real_images(domain, data, "test")
    rows = torch.arange(len(train.labels))
    if train.source == test.source:
        for_profile, for_suite, for_control = rows[::3], rows[1::3], rows[2::3]
    else:
        for_suite = torch.arange(len(test.labels))
        mixed = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]
        kept = min(count, max(1, len(rows) // 2))
        for_profile, for_control = mixed[:kept].sort().values, mixed[kept:]
    profile = real_suite("profile", train, for_profile[:count])
    return Ordinary(profile, real_suite("test images", test, for_suite), train, for_control)


def control_suite(ordinary: Ordinary, count: int) -> Suite:
    """As many ordinary images as a suite has, or as there are: what the same number of unremarkable inputs covers."""
    chosen = ordinary.control_index
    if len(chosen) > count:
        chosen = chosen[torch.randperm(len(chosen), generator=torch.Generator().manual_seed(1))[:count]]
    return real_suite("control", ordinary.control, chosen.sort().values)
