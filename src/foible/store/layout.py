"""What is where in a run folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from foible.errors import StoreError

LEAVES = "this run was made or changed to reach files that are not its own: do not use it"
LONGEST_NAME, LONGEST_PART = 1000, 200  # characters
MOST_BYTES = 64 << 20  # of one stored picture: far more than any image of a domain


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

    def picture(self, name: str) -> Path:
        """Where a picture is written that a finding of this run names; `images` itself was looked at before."""
        kind, _, file = name.partition("/")
        if kind != self.images.name or file in {"", ".", ".."} or any(c in file for c in "/\\\0"):
            raise StoreError(f"'{name[:200]}' is not the name of a picture of the run '{self.folder}'", LEAVES)
        return self.images / file

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


def inside(folder: Path, name: str) -> Path:
    """The path of a file that a database, manifest or archive names; refused when it is not within the folder.

    Every stored name goes through here: a folder that came from elsewhere may name any file of this machine.
    """
    pure = PurePosixPath(name)
    parts = pure.parts
    if not parts or pure.is_absolute() or ".." in parts or "\\" in name or "\0" in name:
        raise StoreError(f"'{name[:200]}' is not the name of a file of the run '{folder}'", LEAVES)
    path = folder.joinpath(*parts)
    if len(name) > LONGEST_NAME or max(map(len, parts)) > LONGEST_PART:
        raise StoreError(f"'{name[:60]}...' is longer than the name of any file", LEAVES)
    home = os.path.realpath(folder)
    if os.path.commonpath([home, os.path.realpath(path)]) != home:
        raise StoreError(f"'{name[:200]}' is a link that leaves the run '{folder}'", LEAVES)
    if path.exists() and not path.is_file():
        raise StoreError(f"'{name[:200]}' of the run '{folder}' is not a file", LEAVES)
    return path


def read_inside(folder: Path, name: str) -> bytes:
    """The content of a file that a database names, after `inside`."""
    path = inside(folder, name)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise StoreError(f"'{name[:200]}' is larger than {MOST_BYTES >> 20} MB", "it is no picture of this run")
        return path.read_bytes()
    except FileNotFoundError:
        raise StoreError(f"'{name[:200]}' is missing", "copy the whole run folder again") from None
    except OSError as error:
        raise StoreError(f"'{name[:200]}' cannot be read: {error.strerror or error}", "check the disk") from error


def no_links_outside(folder: Path) -> None:
    """Refuse a run folder with a link to somewhere else in place of one of its files: reading or writing would follow."""
    home = folder.resolve()
    for place in (folder, folder / "surveys"):
        for path in place.iterdir() if place.is_dir() else ():
            if path.is_symlink() and not path.resolve().is_relative_to(home):
                raise StoreError(f"'{path}' is a link that leaves the run", LEAVES)
