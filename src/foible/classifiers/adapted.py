"""A model of any kind as a classifier: preprocessing in front, logits in the domain's class order behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from foible.batching import Chunks
from foible.classifiers.network import Network, OutputKind
from foible.classifiers.preprocessing import Preprocessing
from foible.classifiers.scores import to_logits
from foible.errors import ModelError
from foible.types import Capability, Images


class AdaptedClassifier:
    """A network with everything said about it.

    Args:
        name: what to call it in reports.
        network: the model itself.
        classes: class names in the order of the logits this classifier gives.
        preprocessing: how images become its input.
        output: what its raw scores are.
        columns: which raw columns stand for the classes; None when they are the classes.
        digests: sha256 of every file it came from.
        notes: what was decided about it, for people.
    """

    def __init__(
        self,
        name: str,
        network: Network,
        classes: Sequence[str],
        preprocessing: Preprocessing,
        output: OutputKind = "logits",
        columns: Sequence[int] | None = None,
        digests: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.name, self.network, self.classes = name, network, tuple(classes)
        self.preprocessing, self.output = preprocessing, output
        self.columns = None if columns is None else torch.tensor(list(columns))
        self.digests, self.notes = dict(digests or {}), tuple(notes)
        self.offers = network.offers - ({Capability.GRADIENT} if preprocessing.dtype == "uint8" else set())
        self.chunk: int | None = getattr(network, "chunk", None)

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, classes) for images in [0, 1]."""
        scores = self.raw_scores(images)
        if self.columns is not None:
            if scores.ndim == 2 and scores.shape[1] <= int(self.columns.max()):
                raise ModelError(
                    f"classifier '{self.name}' gave {scores.shape[1]} scores, its classes ask for {int(self.columns.max()) + 1}",
                    "name one class for each of its scores",
                )
            scores = scores[:, self.columns.to(scores.device)]
        return to_logits(scores, self.output)

    def raw_scores(self, images: Images) -> Tensor:
        """The network's own scores; a model with a fixed batch size gets chunks of that size."""
        if self.network.facts.batch is None:
            return self.network(self.preprocessing(images))
        chunks = Chunks(self.network.facts.batch)
        return chunks(lambda part: (self.network(self.preprocessing(part)),), images)[0]

    def layers(self) -> tuple[str, ...]:
        """Names under which `activations` can be asked for; empty where the format has none."""
        return self.network.layers() if Capability.ACTIVATIONS in self.offers else ()

    def activations(self, images: Images, layers: Sequence[str]) -> Mapping[str, Tensor]:
        """What these layers give, each (N, ...)."""
        if Capability.ACTIVATIONS not in self.offers:
            raise ModelError(
                f"classifier '{self.name}' shows no activations: its format has none",
                "use an ONNX file, an exported program, or weights with file.py:factory",
            )
        return self.network.activations(self.preprocessing(images), layers)

    def to(self, device: torch.device) -> None:
        """Move to a device, where the network can."""
        if callable(move := getattr(self.network, "to", None)):
            move(device)

    def close(self) -> None:
        """End the worker process or connection behind it, where there is one."""
        if callable(close := getattr(self.network, "close", None)):
            close()
