"""The channel: tensors come back as they went, and nothing that breaks the rules gets through."""

import os
import socket
import struct

import numpy as np
import pytest

from foible.sandbox.channel import Broken, Memory, receive, room, send


@pytest.fixture
def memory():
    block = Memory.create(4096)
    yield block
    block.close()


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_arrays_come_back_as_they_went(memory):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([True, False]), "c": np.zeros((0, 4))}
    back = memory.get(memory.put(arrays))
    assert all(np.array_equal(arrays[k], back[k]) and arrays[k].dtype == back[k].dtype for k in arrays)
    assert room(arrays) == 128


@pytest.mark.parametrize(
    "place",
    [
        {"name": "x", "type": "float32", "shape": [1025]},
        {"name": "x", "type": "float32", "shape": [-1]},
        {"name": "x", "type": "float32", "shape": [1 << 40, 1 << 40]},
        {"name": "x", "type": "object", "shape": [1]},
        {"name": "x", "type": "float32", "shape": [1.5]},
        {"name": "x", "type": "float32", "shape": [1] * 9},
    ],
)
def test_places_that_cannot_be_are_refused(memory, place):
    with pytest.raises(Broken):
        memory.get([place])


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_the_other_side_cannot_pull_the_memory_away(memory):
    for size in (0, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(memory.handle, size)


def test_messages_and_handles(pair, memory):
    send(pair[0], {"do": "it"}, [memory.handle])
    message, handles = receive(pair[1], 1)
    assert message == {"do": "it"} and len(handles) == 1
    os.close(handles[0])


@pytest.mark.parametrize(
    "content",
    [struct.pack("<I", 1 << 30), struct.pack("<I", 4) + b"[1]]", struct.pack("<I", 2) + b"[]", b""],
    ids=["too long", "not JSON", "not an object", "gone"],
)
def test_nonsense_is_refused(pair, content):
    pair[0].sendall(content)
    pair[0].close()
    with pytest.raises(Broken):
        receive(pair[1], 1)


def test_half_a_message_runs_out_of_time(pair):
    pair[0].sendall(struct.pack("<I", 10) + b"{")
    with pytest.raises(TimeoutError):
        receive(pair[1], 0.05)
