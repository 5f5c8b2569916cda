"""The two pictures of a finding, read from its run folder and compared with their digests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from foible.errors import FoibleError
from foible.images import read_png
from foible.records import Finding
from foible.store.layout import read_inside
from foible.store.reader import Run
from foible.types import Images


@dataclass(frozen=True)
class Pictures:
    """Failure and origin as PNG files; None where one is missing or not what was stored, with the reason."""

    failure: bytes | None
    origin: bytes | None
    damage: tuple[str, ...] = ()


def pictures(run: Run, finding: Finding) -> Pictures:
    """What can be trusted of a finding's pictures; runs of the first format know the failure's digest alone."""
    damage: list[str] = []
    failure = _content(run, finding.image, finding.image_sha256, damage)
    origin = _content(run, finding.origin_image, finding.origin_sha256, damage)
    return Pictures(failure, origin, tuple(damage))


def decoded(run: Run, content: bytes) -> Images:
    """The image (C, H, W) of a PNG of the run."""
    return read_png(content, run.manifest.shape)


def _content(run: Run, name: str, digest: str, damage: list[str]) -> bytes | None:
    try:
        content = read_inside(run.layout.folder, name)
        if digest and hashlib.sha256(content).hexdigest() != digest:
            damage.append(f"image '{name}' has changed since it was stored")
            return None
        decoded(run, content)
    except FoibleError as error:
        damage.append(error.message.replace("image in memory", f"image '{name}'"))
        return None
    return content
