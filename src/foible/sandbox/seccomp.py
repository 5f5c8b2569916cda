"""Seccomp: system calls that a model has no use for are refused by the Linux kernel.

No sockets, no other program, no other process (threads are fine), no memory outside the limit, no look into other
processes. Reference: https://docs.kernel.org/userspace-api/seccomp_filter.html.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

from foible.sandbox.kernel import PR_SET_NO_NEW_PRIVS, prctl, syscall

# name: (number on x86_64, number on aarch64; None where the call does not exist)
REFUSED: dict[str, tuple[int, int | None]] = {
    "socket": (41, 198),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "kill": (62, 129),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "userfaultfd": (323, 282),
    "pidfd_send_signal": (424, 424),
    "io_uring_setup": (425, 425),
    "pidfd_getfd": (438, 438),
}
CLONE, CLONE3, SECCOMP = (56, 220), (435, 435), (317, 277)
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, audit number
CLONE_THREAD = 0x00010000
X32 = 0x40000000  # a second way to make system calls on x86_64

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # classic BPF instructions
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little endian


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrict() -> None:
    """From now on the refused calls fail with "not permitted"; cannot be undone."""
    machine = platform.machine()
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"no table of system calls for {machine}")
    column, audit = MACHINES[machine]
    code = program(column, audit)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    loaded = _Program(len(code) // 8, code)
    syscall(SECCOMP[column], ctypes.c_uint(1), ctypes.c_uint(0), ctypes.byref(loaded))


def program(column: int, audit: int) -> bytes:
    """The filter as classic BPF: each instruction is (code, jump if true, jump if false, value)."""
    refused = [n for pair in REFUSED.values() if (n := pair[column]) is not None]
    code = [
        (LOAD, 0, 0, MACHINE),
        (EQUAL, 1, 0, audit),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, KILL),
        (EQUAL, 0, 1, CLONE3[column]),  # its flags are out of a filter's sight: libc falls back to clone
        (RETURN, 0, 0, REFUSE | errno.ENOSYS),
    ]
    for number in refused:
        code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | errno.EPERM)]
    code += [
        (EQUAL, 0, 3, CLONE[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (ANY_BIT, 1, 0, CLONE_THREAD),
        (RETURN, 0, 0, REFUSE | errno.EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)
