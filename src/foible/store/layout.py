"""What is where in a run folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The files of one run."""

    folder: Path

    @property
    def manifest(self) -> Path:
        """Recipe, versions, device, digests."""
        return self.folder / "manifest.json"

    @property
    def database(self) -> Path:
        """Outcomes, findings, latents, checkpoints."""
        return self.folder / "run.sqlite"

    @property
    def images(self) -> Path:
        """PNG files to look at and to replay."""
        return self.folder / "images"

    @property
    def report(self) -> Path:
        """The page; derived, can always be rebuilt."""
        return self.folder / "report.html"

    @property
    def answers(self) -> Path:
        """What people say about the findings."""
        return self.folder / "answers.sqlite"

    @property
    def surveys(self) -> Path:
        """Which question of which survey is which finding, and what its attention checks show."""
        return self.folder / "surveys"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes."""
        return self.folder / ".lock"
