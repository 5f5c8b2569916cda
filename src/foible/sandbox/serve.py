"""The worker's side: open one model, then answer with tensors until the parent is gone."""

from __future__ import annotations

import contextlib
import resource
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foible.errors import FoibleError
from foible.registry import build
from foible.sandbox.channel import Arrays, Broken, Memory, receive, room, send

LONGEST_TEXT = 2000


def serve(settings: Mapping[str, Any], active: dict[str, str]) -> None:
    """Say which protections hold, then answer every message with a result or with the model's own error."""
    connection = socket.socket(fileno=settings["connection"])
    torch.set_num_threads(settings["threads"])
    if _limit_memory(settings["memory_gb"]):
        active["memory"] = f"{settings['memory_gb']:g} GB"
    model = _Model()
    with contextlib.suppress(Broken):
        send(connection, {"protections": active})
        while True:
            message, handles = receive(connection)
            reply: dict[str, Any]
            try:
                reply = model.answer(message, handles)
            except FoibleError as error:
                reply = {"error": error.message[:LONGEST_TEXT], "hint": error.hint[:LONGEST_TEXT], "ours": True}
            except BaseException as error:
                reply = {"error": f"{type(error).__name__}: {error}"[:LONGEST_TEXT]}
            send(connection, reply)


class _Model:
    """The model and the shared memory of the current request."""

    def __init__(self) -> None:
        self.network: Any = None
        self.memory: Memory | None = None

    def answer(self, message: Mapping[str, Any], handles: Sequence[int]) -> dict[str, Any]:
        """Do what a message asks for."""
        if message["do"] == "open":
            self.network = build("kinds", message["kind"], message["settings"])
            facts = self.network.facts.model_dump(mode="json")
            return {"facts": facts, "offers": sorted(self.network.offers)}
        if message["do"] == "layers":
            return {"layers": list(self.network.layers())}
        if handles:
            if self.memory is not None:
                self.memory.close()
            self.memory = Memory(handles[0], message["size"])
        assert self.memory is not None
        inputs = {k: torch.from_numpy(v) for k, v in self.memory.get(message["arrays"]).items()}
        return self._put(getattr(self, f"_{message['do']}")(message, inputs))

    def _outputs(self, message: Mapping[str, Any], inputs: dict[str, Tensor]) -> Arrays:
        with torch.inference_mode():
            return {k: _array(v) for k, v in self._run(message, inputs["images"]).items()}

    def _gradient(self, message: Mapping[str, Any], inputs: dict[str, Tensor]) -> Arrays:
        images = inputs.pop("images").requires_grad_()
        outputs = self._run(message, images)
        (gradient,) = torch.autograd.grad([outputs[k] for k in inputs], images, list(inputs.values()))
        return {"gradient": _array(gradient)}

    def _run(self, message: Mapping[str, Any], images: Tensor) -> dict[str, Tensor]:
        """Scores as "0", and what the wanted layers give as "1", "2", ..."""
        if not (layers := message["layers"]):
            return {"0": self.network(images)}
        scores, seen = self.network.inspect(images, layers)
        return {str(k): value for k, value in enumerate((scores, *seen.values()))}

    def _put(self, arrays: Arrays) -> dict[str, Any]:
        assert self.memory is not None
        if (needed := room(arrays)) > self.memory.size:
            return {"room": needed}
        return {"arrays": self.memory.put(arrays)}


def _array(tensor: Tensor) -> np.ndarray[Any, np.dtype[Any]]:
    return tensor.detach().contiguous().numpy()


def _limit_memory(gigabytes: float) -> bool:
    """Allow so much address space on top of what Python and torch have already taken."""
    try:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = taken + int(gigabytes * 1e9)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (OSError, ValueError):
        return False
    return True
