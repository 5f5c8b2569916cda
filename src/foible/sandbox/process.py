"""The child: a supervisor that outlives anything the model does, and the worker, locked in before it loads anything.

1. The supervisor enters new namespaces and forks the worker, which is alone in them.
2. The worker gives up files, system calls and resources, then imports torch and waits for its first message.
3. When the worker ends, or the parent closes its end of the lifeline (also by dying), the supervisor kills whatever is
   left and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import sysconfig
from pathlib import Path
from typing import Any

from foible.sandbox import kernel, landlock, seccomp

SCRATCH_FULL = 77
TICK = 500  # milliseconds between two looks at the scratch folder
UNSUPPORTED = (OSError, AttributeError)  # the kernel refuses, or the system has no such call
SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/proc", "/sys/devices/system", "/opt/intel")
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def main() -> None:
    """Entry point of the child; its only argument is a JSON object."""
    settings = json.loads(sys.argv[1])
    active: dict[str, str] = {}
    with contextlib.suppress(*UNSUPPORTED):
        kernel.enter_namespaces()
        active |= {"network": "network namespace", "processes": "process namespace"}
    worker = os.fork()
    if worker == 0:
        os.close(settings["lifeline"])
        _work(settings, active)
        os._exit(0)
    os.close(settings["connection"])
    os._exit(_supervise(worker, settings["lifeline"], Path(settings["scratch"]), settings["scratch_mb"]))


def _supervise(worker: int, lifeline: int, scratch: Path, scratch_mb: float) -> int:
    """Wait for the end, and see to it that nothing is left; gives the exit code."""
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    with contextlib.suppress(*UNSUPPORTED):
        poll.register(os.pidfd_open(worker), select.POLLIN)
    code = None
    while True:
        events = poll.poll(TICK)
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            if code == 0:
                shutil.rmtree(scratch, ignore_errors=True)  # the parent may not be there to do it
            code = code if code is not None else os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if any(handle == lifeline for handle, _ in events):
            code = 0
        elif _size(scratch) > scratch_mb * 1e6:
            code = SCRATCH_FULL
        if code is not None:
            os.kill(worker, signal.SIGKILL)  # the first process of its namespace: all others end with it


def _work(settings: dict[str, Any], active: dict[str, str]) -> None:
    with contextlib.suppress(*UNSUPPORTED):
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, 512)
    _limit(resource.RLIMIT_FSIZE, int(settings["scratch_mb"] * 1e6))
    if _limit(resource.RLIMIT_CPU, max(1, int(settings["cpu_seconds"]))):
        active["cpu"] = f"{settings['cpu_seconds']:g} s"
    with contextlib.suppress(*UNSUPPORTED):
        level = landlock.restrict(
            [*map(Path, settings["readable"]), *_software()], [Path(settings["scratch"]), *map(Path, DEVICES)]
        )
        active["files"] = f"Landlock {level}"
    with contextlib.suppress(*UNSUPPORTED):
        seccomp.restrict()
        for name in ("network", "processes"):
            active[name] = f"{active[name]}, seccomp" if name in active else "seccomp"
    with contextlib.suppress(*UNSUPPORTED):
        kernel.drop_capabilities()
    from foible.sandbox.serve import serve

    serve(settings, active)


def _software() -> list[Path]:
    """What a worker must read to run at all: the system's libraries, Python, and installed packages."""
    folders = {sys.prefix, sys.base_prefix, *(v for k, v in sysconfig.get_paths().items() if "lib" in k)}
    return [Path(p) for p in (*SYSTEM, *folders)] + [Path(__file__).parents[1]]


def _limit(what: int, most: int) -> bool:
    """Set a resource limit for good; False where the system does not allow it."""
    try:
        resource.setrlimit(what, (most, most))
    except (OSError, ValueError):
        return False
    return True


def _size(folder: Path) -> int:
    total = 0
    with contextlib.suppress(OSError):
        for path in folder.rglob("*"):
            with contextlib.suppress(OSError):
                total += path.lstat().st_size
    return total
