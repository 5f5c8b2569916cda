"""Writing files: whole or not at all, and with an error that says what to do when the disk will not have it."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foible.errors import StoreError

HINTS = {
    errno.ENOSPC: "the disk is full: free some space, then run the same command to go on",
    errno.EDQUOT: "your quota is used up: free some space, then run the same command to go on",
    errno.EFBIG: "a file-size limit was reached: raise it, then run the same command to go on",
    errno.EACCES: "choose a folder you may write to with --out",
    errno.EROFS: "choose a folder you may write to with --out",
}


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a failing disk into an error that says what to do; nothing stored before is touched."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write '{path}': {error.strerror or error}", HINTS.get(error.errno or 0, "check the disk")
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside this one to write to: it takes its place when the block ends, and is gone when the block fails.

    Whoever reads `path` sees the old file or the new one, never a part. Each process and thread writes to a file of its
    own, so that two that write the same at once do not trip over each other.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    with disk_errors(path):
        partial.unlink(missing_ok=True)  # a link that lies there is not followed
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that nobody reads before a later commit names it: in one go where there is none yet, else whole."""
    with disk_errors(path):
        try:
            with path.open("xb") as opened:
                opened.write(content)
        except FileExistsError:  # left by a process that was killed before its commit
            write_whole(path, content)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file whole or not at all; text as UTF-8."""
    with replacing(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
