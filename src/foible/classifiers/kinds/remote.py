"""A classifier behind an HTTP endpoint.

JSON, as model servers speak it: {"instances": [image, ...]} out, {"predictions": [[score, ...], ...]} back, an image
being nested lists (H, W, C). Upload: one PNG per image in a form field "file", the same answer back.
Every request is counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from foible.classifiers.kinds.connection import Connection, Cost
from foible.classifiers.network import Facts
from foible.errors import ModelError, RecipeError
from foible.images import png
from foible.types import Capability


class RemoteNetwork:
    """A model server: a black box that costs something per image.

    Args:
        url: where images are sent by POST.
        send: "json" for nested lists, "png" for image upload.
        batch: images per request; 32 for JSON and 1 for upload by default.
        field: the key of the images in a JSON body, or the form field of an upload.
        answer: the key of the scores in the answer; dots go deeper, "" is the answer itself.
        headers: sent along; `${NAME}` stands for an environment variable, so that no secret is in a recipe.
        timeout: seconds for one request.
        retries: how often a request is tried again after no answer, 408, 425, 429 or 5xx, waiting longer each time.
        per_second: at most this many requests a second.
        private: allow addresses of this machine and of private networks.
    """

    offers: frozenset[Capability] = frozenset()
    harmless = True  # nothing of it runs here
    asks = ("send", "field", "answer", "headers")  # the settings that change what it answers

    def __init__(
        self,
        url: str,
        send: Literal["json", "png"] = "json",
        batch: int | None = None,
        field: str | None = None,
        answer: str = "predictions",
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        retries: int = 4,
        per_second: float | None = None,
        private: bool = False,
    ) -> None:
        if send not in ("json", "png"):
            raise RecipeError(f"send = {send!r} is neither 'json' nor 'png'", "json sends numbers, png sends files")
        self.connection = Connection(url, headers or {}, timeout, retries, per_second, private)
        self.url, self.send, self.answer = url, send, answer
        self.batch = batch or (32 if send == "json" else 1)
        self.field = field or ("instances" if send == "json" else "file")
        self.chunk = self.batch  # larger chunks would only be cut, and measuring the fastest one costs requests
        self.facts = Facts(
            source="the endpoint", layout="nhwc", **({"range": (0.0, 255.0), "dtype": "uint8"} if send == "png" else {})
        )

    @staticmethod
    def files(**_settings: Any) -> tuple[Path, ...]:
        """None: the model is elsewhere."""
        return ()

    @property
    def cost(self) -> Cost:
        """Requests, images, retries, bytes and seconds so far."""
        return self.connection.cost

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs); rows that only fill up a chunk are sent once."""
        images = inputs.detach().cpu().numpy()
        wanted = len(images) - _repeats(images)
        parts = [self._ask(images[k : min(k + self.batch, wanted)]) for k in range(0, wanted, self.batch)]
        scores = torch.from_numpy(np.concatenate(parts))
        return torch.cat([scores, scores[-1:].expand(len(images) - wanted, -1)]).to(inputs.device)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _ask(self, images: NDArray[Any]) -> NDArray[np.float32]:
        if self.send == "png":
            files = [(self.field, (f"{k}.png", png(image), "image/png")) for k, image in enumerate(images)]
            content = self.connection.post(len(images), files=files)
        else:
            content = self.connection.post(len(images), json={self.field: images.tolist()})
        return self._scores(content, len(images))

    def _scores(self, content: bytes, count: int) -> NDArray[np.float32]:
        try:
            found = json.loads(content)
            for key in filter(None, self.answer.split(".")):
                found = found[key]
            scores = np.asarray(found, dtype=np.float32)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ModelError(
                f"the answer of {self.url} has no scores under '{self.answer}': {content[:120]!r}",
                'name the key with answer = "..." (dots go deeper)',
            ) from error
        scores = scores[None] if scores.ndim == 1 and count == 1 else scores
        if scores.ndim != 2 or len(scores) != count:
            raise ModelError(
                f"{self.url} gave scores of shape {scores.shape} for {count} images, expected ({count}, classes)",
                "one row of scores per image; a server that takes one image at a time wants batch = 1",
            )
        return scores


def _repeats(images: NDArray[Any]) -> int:
    """How many rows at the end only repeat the last one."""
    same = (images == images[-1:]).all(tuple(range(1, images.ndim)))
    return int(np.argmin(same[::-1]) if not same.all() else len(same)) - 1
