"""A model of any kind as a classifier: preprocessing in front, logits in the domain's class order behind.

Nothing here switches gradients off: they flow from the logits and the activations back to the images wherever the
caller's grad mode is on and the kind of model lets them (`offers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import torch
from torch import Tensor, nn

from foible.batching import Chunks
from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.adapting.scores import to_logits
from foible.classifiers.folding import folded
from foible.classifiers.network import InspectableNetwork, ModuleNetwork, Network, OutputKind
from foible.errors import ModelError
from foible.registry import build
from foible.types import Capability, Images


class AdaptedClassifier:
    """A network with everything said about it.

    Args:
        name: what to call it in reports.
        network: the model itself; a torch module is put into evaluation mode and its parameters are frozen.
        classes: class names in the order of the logits this classifier gives.
        preprocessing: how images become its input; as they are by default.
        output: what its raw scores are.
        columns: which raw columns stand for the classes; None when they are the classes.
        digests: sha256 of every file it came from.
        notes: what was decided about it, for people.
    """

    def __init__(
        self,
        name: str,
        network: Network | nn.Module,
        classes: Sequence[str],
        preprocessing: Preprocessing | None = None,
        output: OutputKind = "logits",
        columns: Sequence[int] | None = None,
        digests: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.name, self.classes, self.output = name, tuple(classes), output
        self.network: Network = ModuleNetwork(network) if isinstance(network, nn.Module) else network
        self.preprocessing = preprocessing or Preprocessing()
        self.columns = None if columns is None else torch.tensor(list(columns))
        self.digests, self.notes = dict(digests or {}), tuple(notes)
        rounds = self.preprocessing.dtype == "uint8"
        self.offers = self.network.offers - ({Capability.GRADIENT} if rounds else set())
        self.chunk: int | None = getattr(self.network, "chunk", None)

    @classmethod
    def from_weights(cls, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> AdaptedClassifier:
        """Rebuild from a model file: `network` names the architecture, `network_config` its parameters."""
        module = build("networks", config["network"], config["network_config"])
        module.load_state_dict(dict(tensors))
        module.to(memory_format=torch.channels_last)  # faster; a stranger's module may call view(), which forbids it
        rest = {k: v for k, v in config.items() if k not in {"network", "network_config", "mean", "std"}}
        normal = Preprocessing(mean=tuple(config.get("mean", (0.0,))), std=tuple(config.get("std", (1.0,))))
        return cls(name, module, preprocessing=normal, **rest)

    def folded(self) -> AdaptedClassifier:
        """The same classifier, quicker: its batch norms are part of its convolutions."""
        same = copy(self)
        if isinstance(self.network, ModuleNetwork):
            same.network = ModuleNetwork(folded(self.network.module), self.network.facts)
        return same

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, classes) for images in [0, 1]."""
        return self._logits(self.raw_scores(images), images)

    def raw_scores(self, images: Images) -> Tensor:
        """The network's own scores."""
        return self._run(lambda inputs: (self.network(inputs),), images)[0]

    def layers(self) -> tuple[str, ...]:
        """Names under which `inspect` can be asked for activations; empty where the format has none."""
        return () if (network := self._inspectable()) is None else network.layers()

    def inspect(self, images: Images, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Logits (N, classes), and what these layers give, each (N, ...): in one pass, on one graph."""
        if (network := self._inspectable()) is None:
            raise ModelError(
                f"classifier '{self.name}' shows no activations: its format has none",
                "use an ONNX file, an exported program, or weights with file.py:factory",
            )

        def run(inputs: Tensor) -> tuple[Tensor, ...]:
            scores, seen = network.inspect(inputs, layers)
            return (scores, *seen.values())

        scores, *values = self._run(run, images)
        return self._logits(scores, images), dict(zip(dict.fromkeys(layers), values, strict=True))

    def to(self, device: torch.device) -> None:
        """Move to a device, where the network can."""
        if callable(move := getattr(self.network, "to", None)):
            move(device)

    def close(self) -> None:
        """End the worker process or connection behind it, where there is one."""
        if callable(close := getattr(self.network, "close", None)):
            close()

    def _inspectable(self) -> InspectableNetwork | None:
        network = self.network
        return network if Capability.ACTIVATIONS in self.offers and isinstance(network, InspectableNetwork) else None

    def _run(self, function: Callable[[Tensor], tuple[Tensor, ...]], images: Images) -> tuple[Tensor, ...]:
        """Prepared images through a function; a model with a fixed batch size gets chunks of that size."""
        if self.network.facts.batch is None:
            return function(self.preprocessing(images))
        chunks = Chunks(self.network.facts.batch)
        return chunks(lambda part: function(self.preprocessing(part)), images)

    def _logits(self, scores: Tensor, images: Images) -> Tensor:
        if self.columns is not None:
            if scores.ndim == 2 and scores.shape[1] <= int(self.columns.max()):
                raise ModelError(
                    f"classifier '{self.name}' gave {scores.shape[1]} scores, its classes ask for {int(self.columns.max()) + 1}",
                    "name one class for each of its scores",
                )
            scores = scores[:, self.columns.to(scores.device)]
        if scores.is_floating_point():  # integers stay: they are labels by mistake, which the check tells
            scores = scores.to(images.dtype)
        return to_logits(scores, self.output)
