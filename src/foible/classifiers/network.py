"""What every kind of model comes down to: prepared inputs in, raw scores out, and the facts its file states.

A kind is one file with one such class and one row in the registry's table "kinds". Preprocessing, class order and the
meaning of the scores are the same for all kinds and live in `adapted.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from foible.classifiers.activations import layer_names, run_and_record
from foible.types import Capability

OutputKind = Literal["logits", "probabilities", "log-probabilities"]
Layout = Literal["nchw", "nhwc"]
Precision = Literal["float32", "float16", "float64", "uint8"]


class Facts(BaseModel):
    """What a model's own file or configuration says about it; None where it is silent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = "the file"
    channels: int | None = Field(None, ge=1, le=1024)
    size: tuple[int, int] | None = None
    batch: int | None = Field(None, ge=1)  # the one batch size it accepts
    dtype: Precision = "float32"
    layout: Layout = "nchw"
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    range: tuple[float, float] | None = None
    output: OutputKind | None = None
    classes: tuple[str, ...] | None = None


class Network(Protocol):
    """A loaded model."""

    facts: Facts
    offers: frozenset[Capability]

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs) of prepared inputs."""
        ...


@runtime_checkable
class InspectableNetwork(Protocol):
    """The second face of a network that shows what happens inside."""

    def layers(self) -> tuple[str, ...]:
        """Names under which activations can be asked for."""
        ...

    def inspect(self, inputs: Tensor, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Raw scores of prepared inputs, and what these layers give, each (N, ...), in one pass and one graph."""
        ...


class ModuleNetwork:
    """A torch module as a network: gradients, and activations of every submodule.

    Its parameters are frozen, so that a backward pass computes the gradient of the inputs and nothing else.
    """

    offers = frozenset({Capability.GRADIENT, Capability.ACTIVATIONS})

    def __init__(self, module: nn.Module, facts: Facts | None = None) -> None:
        self.module = module.eval().requires_grad_(False)
        self.facts = facts or Facts()

    def __call__(self, inputs: Tensor) -> Tensor:
        """Raw scores (N, outputs)."""
        return first_tensor(self.module(inputs))

    def layers(self) -> tuple[str, ...]:
        """The names of all submodules."""
        return layer_names(self.module)

    def inspect(self, inputs: Tensor, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Raw scores and the outputs of these submodules."""
        output, seen = run_and_record(self.module, inputs, layers)
        return first_tensor(output), seen

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self.module.to(device)


def first_tensor(output: object) -> Tensor:
    """The scores in what a model gives: a tensor, the first of several, or the `logits` of a named output."""
    if isinstance(output, Tensor):
        return output
    if isinstance(logits := getattr(output, "logits", None), Tensor):
        return logits
    if isinstance(output, list | tuple) and output:
        return first_tensor(output[0])
    if isinstance(output, dict) and output:
        return first_tensor(output.get("logits", next(iter(output.values()))))
    raise TypeError(f"the model gives a {type(output).__name__}, expected a tensor of scores (N, classes)")
