"""Writing files: whole or not at all, and with an error that says what to do when the disk will not have it."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foible.errors import StoreError

BINARY = getattr(os, "O_BINARY", 0)  # Windows alone knows it
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
    """Write a file that nobody reads before a later commit names it, and make sure that it can be read back.

    In one go and without a second file where there is none yet; what a process that was killed has left is replaced.
    """
    with disk_errors(path):
        try:
            opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY, 0o666)  # follows no link
        except FileExistsError:
            write_whole(path, content)
            written = path.read_bytes()
        else:
            try:
                os.write(opened, content)
                os.lseek(opened, 0, os.SEEK_SET)
                written = os.read(opened, len(content) + 1)
            finally:
                os.close(opened)
    if written != content:
        raise StoreError(f"'{path}' is not what was written", "check the disk; what was stored before is kept")


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file whole or not at all; text as UTF-8."""
    with replacing(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
