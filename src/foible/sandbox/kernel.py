"""The few system calls that Python has no function for. Each works without privileges or says that it does not."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38


def syscall(number: int, *arguments: object) -> int:
    """A raw system call; raises OSError where the kernel refuses or is not Linux."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def prctl(option: int, value: int) -> None:
    """Set one property of this process."""
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def drop_capabilities() -> None:
    """Keep no special right, not even inside this process's own namespaces."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _libc.capset(header, nothing) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def enter_namespaces() -> None:
    """Give this process's children their own network (empty), process numbers and users.

    Must be called before the process has a second thread. Children of this process cannot see any process outside, and
    all end when the first of them ends.
    """
    user, group = os.geteuid(), os.getegid()
    flags = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS
    if _libc.unshare(flags) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
