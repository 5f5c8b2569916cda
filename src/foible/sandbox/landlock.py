"""Landlock: which files this process and its children may read and write, enforced by the Linux kernel (5.13 or newer).

Reference: https://docs.kernel.org/userspace-api/landlock.html. Rights that a kernel does not know yet are left out.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from foible.sandbox.kernel import PR_SET_NO_NEW_PRIVS, prctl, syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL = 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
TCP = 0b11  # bind and connect
SCOPES = 0b11  # abstract sockets and signals
ALL_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The version of Landlock this kernel has; raises OSError where it has none."""
    return syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> int:
    """From now on only these files and folders can be read or written, whatever runs; gives Landlock's version.

    Must be called before the process has a second thread: existing threads would stay free.
    """
    level = version()
    files = ALL_BY_VERSION[min(level, 5)]
    rules = _Ruleset(files, TCP if level >= 4 else 0, SCOPES if level >= 6 else 0)
    size = 8 if level < 4 else 16 if level < 6 else 24
    ruleset = syscall(CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(ruleset, path, files & (EXECUTE | READ_FILE | READ_DIR))
        for path in writable:
            _allow(ruleset, path, files & ~EXECUTE)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        syscall(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return level


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= FILE_RIGHTS
        rule = _Beneath(rights, handle)
        syscall(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(handle)
