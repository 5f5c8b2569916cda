"""Memory that was freed is kept: the maps of a photograph are tens of megabytes, wanted again in the next pass.

The C library hands blocks of that size back to the system, and every page of the next one is a fault. Set by the command line, not
by importing foible: a program that uses foible as a library decides this for itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import os

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of the settings in malloc.h of the GNU C library
KEPT = 2**30  # bytes: blocks up to this size come from the heap, and so much of its end may lie idle
SETTINGS = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> bool:
    """Tell malloc to keep large blocks; whether it listens. What the user has set in the environment stands."""
    if any(name in os.environ for name in SETTINGS):
        return False
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        option = ctypes.CDLL(None).mallopt
        return all(option(name, KEPT) == 1 for name in (MMAP_THRESHOLD, TRIM_THRESHOLD))
    return False
