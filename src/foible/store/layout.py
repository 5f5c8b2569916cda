"""What is where in a run folder."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from foible.errors import StoreError


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


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a failing disk into an error that says what to do; nothing stored before is touched."""
    try:
        yield
    except OSError as error:
        hints = {
            errno.ENOSPC: "the disk is full: free some space, then run the same command to go on",
            errno.EDQUOT: "your quota is used up: free some space, then run the same command to go on",
            errno.EFBIG: "a file-size limit was reached: raise it, then run the same command to go on",
            errno.EACCES: "choose a folder you may write to with --out",
            errno.EROFS: "choose a folder you may write to with --out",
        }
        raise StoreError(
            f"cannot write '{path}': {error.strerror or error}", hints.get(error.errno or 0, "check the disk")
        ) from error
