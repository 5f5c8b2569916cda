"""Images that a visitor sends: one picture, an array, or an archive of pictures; unpacked with nothing taken on trust."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from foible.domains.folder import SUFFIXES
from foible.errors import DataError
from foible.files import disk_errors
from foible.store.layout import inside

KINDS = (".zip", ".npz", ".npy", ".png", ".jpg", ".jpeg")
MOST_FILES = 20_000
MOST_BYTES = 2_000_000_000  # of all files of an archive, unpacked
LARGEST_FILE = 64 << 20


def keep_images(path: Path, folder: Path) -> Path:
    """Put images that were sent into a folder of their own; gives what a command can be told: the folder or the file."""
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() != ".zip":
            return Path(shutil.copyfile(path, folder / path.name))
    try:
        with zipfile.ZipFile(path) as archive:
            _unpack(archive, folder)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise DataError(
            f"'{path.name}' cannot be unpacked: {error}", "make the archive again, without a password"
        ) from error
    return folder


def _unpack(archive: zipfile.ZipFile, folder: Path) -> None:
    wanted = [m for m in archive.infolist() if not m.is_dir() and _is_image(m.filename)]
    if not wanted:
        raise DataError("the archive holds no images", f"expected files of kind {', '.join(sorted(SUFFIXES))}")
    if len(wanted) > MOST_FILES:
        raise DataError(f"the archive holds more than {MOST_FILES:,} images", "send fewer at a time")
    room = MOST_BYTES
    for member in wanted:
        target = inside(folder, member.filename)
        with disk_errors(folder):
            target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed:
            content = packed.read(min(LARGEST_FILE, room) + 1)  # what a header says of its size is not believed
        room -= len(content)
        if len(content) > LARGEST_FILE or room < 0:
            raise DataError("the archive is larger than images can be", "send fewer or smaller images")
        with disk_errors(target):
            target.write_bytes(content)


def _is_image(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith((".", "__MACOSX")) and part not in {".."} for part in parts)
    return not hidden and PurePosixPath(name).suffix.lower() in SUFFIXES | {".npy"}
