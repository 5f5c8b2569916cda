"""How the two sides talk: short JSON messages over a socket, tensors as raw bytes in shared memory.

Nothing that comes from the worker is unpickled or run. The shared memory belongs to the parent: its size is sealed, so
that a worker can neither grow it beyond its limit nor pull it away under the reader.
"""

from __future__ import annotations

import fcntl
import json
import math
import mmap
import os
import socket
import struct
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST_MESSAGE = 1 << 18
TYPES = {"float32", "float16", "float64", "uint8", "int64", "int32", "bool"}
Arrays = Mapping[str, NDArray[Any]]


class Broken(Exception):
    """The other side is gone, too slow, or does not keep to the rules."""


class Memory:
    """A block of memory both sides can see."""

    def __init__(self, handle: int, size: int) -> None:
        self.handle, self.size = handle, size
        self.map = mmap.mmap(handle, size)
        self._let_go = weakref.finalize(self, os.close, handle)

    @classmethod
    def create(cls, size: int) -> Memory:
        """A new block, its size sealed where the system can."""
        if hasattr(os, "memfd_create"):
            handle = os.memfd_create("foible", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(handle, size)
            fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        else:
            with tempfile.TemporaryFile() as opened:
                handle = os.dup(opened.fileno())
            os.ftruncate(handle, size)
        return cls(handle, size)

    def put(self, arrays: Arrays) -> list[dict[str, Any]]:
        """Copy arrays in, one after another; gives what the other side needs to find them."""
        offset, places = 0, []
        for name, array in arrays.items():
            target = np.frombuffer(self.map, array.dtype, array.size, offset).reshape(array.shape)
            np.copyto(target, array)
            places.append({"name": name, "type": array.dtype.name, "shape": list(array.shape)})
            offset += padded(array.nbytes)
        return places

    def get(self, places: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
        """Copies of the arrays at these places; a place that cannot be is refused."""
        offset, arrays = 0, {}
        for place in places:
            shape, kind = tuple(place["shape"]), place["type"]
            if kind not in TYPES or not all(isinstance(n, int) and n >= 0 for n in shape) or len(shape) > 8:
                raise Broken("the worker announced an array that cannot be")
            bytes_needed = math.prod(shape) * np.dtype(kind).itemsize
            if offset + bytes_needed > self.size:
                raise Broken("the worker announced more than fits into the shared memory")
            view = np.frombuffer(self.map, kind, math.prod(shape), offset).reshape(shape)
            arrays[str(place["name"])[:200]] = view.copy()
            offset += padded(bytes_needed)
        return arrays

    def close(self) -> None:
        """Give the memory back."""
        self.map.close()
        self._let_go()


def room(arrays: Arrays) -> int:
    """Bytes that arrays need in shared memory."""
    return sum(padded(a.nbytes) for a in arrays.values())


def padded(size: int) -> int:
    """The next multiple of 64, so that every array starts on a cache line."""
    return -(-size // 64) * 64


def send(connection: socket.socket, message: Mapping[str, Any], handles: Sequence[int] = ()) -> None:
    """Send one message, and open file handles along with it."""
    content = json.dumps(message).encode()
    content = struct.pack("<I", len(content)) + content
    try:
        sent = socket.send_fds(connection, [content], list(handles)) if handles else 0
        connection.sendall(content[sent:])
    except OSError as error:
        raise Broken(f"the other side is gone ({error.strerror})") from error


def receive(connection: socket.socket, seconds: float | None = None) -> tuple[dict[str, Any], list[int]]:
    """One message and the handles that came with it.

    Raises:
        TimeoutError: the whole message did not arrive within `seconds`.
        Broken: the other side is gone or talks nonsense.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    handles: list[int] = []

    def read(size: int) -> bytes:
        content = b""
        while len(content) < size:
            if deadline is not None:
                connection.settimeout(max(0.001, deadline - time.monotonic()))
            part, came, _, _ = socket.recv_fds(connection, size - len(content), 1)
            handles.extend(came)
            if not part:
                raise Broken("the other side is gone")
            content += part
        return content

    try:
        (length,) = struct.unpack("<I", read(4))
        if length > LONGEST_MESSAGE:
            raise Broken("the other side sends more than a message may hold")
        message = json.loads(read(length))
    except TimeoutError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise Broken(f"the other side cannot be understood ({error})") from error
    if not isinstance(message, dict):
        raise Broken("the other side cannot be understood")
    return message, handles
