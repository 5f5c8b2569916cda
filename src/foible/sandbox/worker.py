"""The parent's side of a worker process: start it, ask it, and be rid of it whatever it does."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from foible.errors import ModelError
from foible.plain import plain
from foible.sandbox.channel import Arrays, Broken, Memory, receive, room, send
from foible.sandbox.limits import Limits
from foible.sandbox.process import SCRATCH_FULL

FIRST_BLOCK = 1 << 24
MOST_SHARED = 4 << 30
BOOT = "import sys; sys.path[:] = {path!r}; from foible.sandbox.process import main; main()"
SPOKEN = {
    SCRATCH_FULL: "it filled its scratch folder",
    128 + signal.SIGSEGV: "it crashed (segmentation fault)",
    128 + signal.SIGABRT: "it crashed (abort)",
    128 + signal.SIGBUS: "it crashed (bus error)",
    128 + signal.SIGILL: "it crashed (illegal instruction)",
    128 + signal.SIGFPE: "it crashed (arithmetic fault)",
    128 + signal.SIGSYS: "it made a forbidden system call",
    128 + signal.SIGKILL: "it was killed: CPU time or memory spent",
    0: "it ended by itself",
}


class Worker:
    """A process that holds one model.

    Args:
        name: of the classifier, for messages.
        readable: the only files of the user's that it may read.
        limits: what it may use.
    """

    def __init__(self, name: str, readable: Sequence[Path], limits: Limits) -> None:
        self.name, self.limits = name, limits
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self.scratch = Path(tempfile.mkdtemp(prefix="foible-"))
        ours, theirs = socket.socketpair()
        end, lifeline = os.pipe()
        self.connection, self.process = ours, self._start(theirs, end, readable)
        theirs.close()
        os.close(end)
        self._close = weakref.finalize(self, _end, self.process, lifeline, ours, self.scratch)
        self.protections: dict[str, str] = self._receive(limits.load_seconds, "start")["protections"]
        self.protections["wall"] = f"{limits.call_seconds:g} s"

    def _start(self, connection: socket.socket, lifeline: int, readable: Sequence[Path]) -> subprocess.Popen[bytes]:
        settings = {
            "parent": os.getpid(),
            "connection": connection.fileno(),
            "lifeline": lifeline,
            "scratch": str(self.scratch),
            "readable": [str(p.resolve()) for p in readable],
            "threads": torch.get_num_threads(),
            **asdict(self.limits),
        }
        here = str(self.scratch)
        with (self.scratch / "messages").open("wb") as messages:
            return subprocess.Popen(
                [sys.executable, "-I", "-c", BOOT.format(path=[p for p in sys.path if p]), json.dumps(settings)],
                pass_fds=(connection.fileno(), lifeline),
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                cwd=here,
                env={
                    "PATH": os.defpath,
                    "HOME": here,
                    "TMPDIR": here,
                    "TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1",
                    "OMP_WAIT_POLICY": "PASSIVE",  # threads that spin while they wait take the CPU from the parent
                    "LC_ALL": "C.UTF-8",
                },
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return self._close.alive

    def ask(self, message: Mapping[str, Any], seconds: float, doing: str) -> dict[str, Any]:
        """The reply to a message without tensors."""
        with self._lock:
            self._send(message)
            return self._receive(seconds, doing)

    def compute(self, message: Mapping[str, Any], arrays: Arrays) -> dict[str, NDArray[Any]]:
        """The tensors that come back for these."""
        with self._lock:
            seconds, doing = self.limits.call_seconds, f"classify {len(next(iter(arrays.values())))} images"
            memory, handles = self._shared(room(arrays))
            while True:
                places = memory.put(arrays)
                self._send({**message, "arrays": places, "size": memory.size}, handles)
                reply = self._receive(seconds, doing)
                if "room" not in reply:
                    return self._taken(memory, reply)
                memory, handles = self._shared(int(reply["room"]))

    def close(self) -> None:
        """End the process and everything it may have started, and remove its scratch folder."""
        self._close()

    def _shared(self, size: int) -> tuple[Memory, list[int]]:
        """Shared memory of at least this size, and its handle when the worker does not have it yet."""
        if self._memory is not None and size <= self._memory.size:
            return self._memory, []
        if size > MOST_SHARED:
            raise ModelError(
                f"classifier '{self.name}' wants to pass {size / 1e9:.1f} GB at once", "use a smaller chunk"
            )
        if self._memory is not None:
            self._memory.close()
        self._memory = Memory.create(max(FIRST_BLOCK, 2 * size))
        return self._memory, [self._memory.handle]

    def _taken(self, memory: Memory, reply: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        try:
            return memory.get(reply["arrays"])
        except (Broken, KeyError, TypeError, ValueError) as error:
            self.close()
            raise self._error(f"it does not keep to the rules ({error})") from error

    def _send(self, message: Mapping[str, Any], handles: Sequence[int] = ()) -> None:
        if not self.alive:
            raise self._error("it has ended")
        self.connection.settimeout(self.limits.call_seconds)
        try:
            send(self.connection, message, handles)
        except (Broken, TimeoutError) as error:
            raise self._died() from error

    def _receive(self, seconds: float, doing: str) -> dict[str, Any]:
        try:
            reply, handles = receive(self.connection, seconds)
        except TimeoutError:
            self.close()
            raise self._error(f"it took more than {seconds:g} s to {doing}") from None
        except Broken as error:
            raise self._died() from error
        for handle in handles:
            os.close(handle)
        if "error" not in reply:
            return reply
        text, hint = (plain(str(reply.get(key, ""))) for key in ("error", "hint"))
        if any(
            words in text for words in ("can't allocate memory", "MemoryError", "bad_alloc", "Cannot allocate memory")
        ):
            raise ModelError(
                f"classifier '{self.name}' ran out of memory in its worker, which has {self.limits.memory_gb:g} GB",
                "raise limits.memory_gb if the model is known to need it",
            )
        raise ModelError(text, hint) if reply.get("ours") else RuntimeError(text)

    def _died(self) -> ModelError:
        """What the process died of."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        code, said = self.process.poll(), _last_line(self.scratch / "messages")
        self.close()
        reason = "it does not keep to the rules" if code is None else SPOKEN.get(code, f"it ended with code {code}")
        return self._error(reason + (f"; it last said: {said}" if said else ""))

    def _error(self, reason: str) -> ModelError:
        return ModelError(
            f"classifier '{self.name}' was stopped in its sandbox: {reason}",
            "nothing else was touched; the limits are call_seconds, memory_gb, cpu_seconds, scratch_mb",
        )


def _end(process: subprocess.Popen[bytes], lifeline: int, connection: socket.socket, scratch: Path) -> None:
    """Cut the lifeline; the supervisor kills the rest. Should it hang itself, kill it too."""
    os.close(lifeline)
    connection.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    shutil.rmtree(scratch, ignore_errors=True)


def _last_line(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            opened.seek(max(0, path.stat().st_size - 1000))
            lines = opened.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return plain(lines[-1])[:300] if lines else ""


def as_array(tensor: torch.Tensor) -> np.ndarray[Any, np.dtype[Any]]:
    """A tensor as an array that can be copied into shared memory."""
    return tensor.detach().cpu().contiguous().numpy()
