"""The activations of some inputs, brought down to one value per unit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from foible.coverage.scope import Scope, Unit
from foible.errors import DataError, RecipeError, did_you_mean

T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """What the measured layers gave for N inputs.

    Args:
        scope: which layers and units.
        values: one per unit (N, units); carries gradients where the activations do.
        low: smallest value in each layer (N, layers), of the whole map and not of the channel means; likewise.
        high: largest value.
        predicted: the class the classifier takes each input for (N,); -1 where that is not known.
    """

    scope: Scope
    values: Tensor
    low: Tensor
    high: Tensor
    predicted: Tensor
    _once: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What several criteria work out from the same batch, worked out once.

        Not what hangs on a graph: it may be asked for first where gradients are off, and then lend none to anybody.
        """
        if key not in self._once:
            self._once[key] = make()
        found: T = self._once[key]
        return found

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, index: Tensor | slice) -> Batch:
        """Some of the inputs."""
        return Batch(self.scope, self.values[index], self.low[index], self.high[index], self.predicted[index])


def joined(batches: Sequence[Batch]) -> Batch:
    """Several batches of one scope as one."""
    if len(batches) == 1:
        return batches[0]
    columns = zip(*((b.values, b.low, b.high, b.predicted) for b in batches), strict=True)
    values, low, high, predicted = (torch.cat(column) for column in columns)
    return Batch(batches[0].scope, values, low, high, predicted)


def read(activations: Mapping[str, Tensor], scope: Scope, predicted: Tensor | None = None) -> Batch:
    """Activations (N, ...) by layer as a batch.

    Args:
        activations: what the layers gave: (N, units), maps (N, channels, height, width) or tokens (N, places, features).
        scope: which layers to read.
        predicted: classes (N,).
    """
    for name, width in zip(scope.layers, scope.widths, strict=True):
        if name not in activations:
            raise RecipeError(f"the activations have no layer '{name}'", did_you_mean(name, activations))
        if (found := width_of(activations[name], scope.unit)) != width:
            raise DataError(
                f"layer '{name}' has {found} units, {width} were expected",
                "the profile is of another model, or of images of another size",
            )
    layers = [activations[name] for name in scope.layers]
    values = torch.cat([in_units(layer, scope.unit) for layer in layers], 1)
    every = [tuple(range(1, layer.ndim)) for layer in layers]
    low = torch.stack([layer.amin(axes) for layer, axes in zip(layers, every, strict=True)], 1)
    high = torch.stack([layer.amax(axes) for layer, axes in zip(layers, every, strict=True)], 1)
    if not bool((low.isfinite() & high.isfinite()).all()):
        raise DataError("activations hold NaN or infinite values", "look at the model's inputs and weights")
    return Batch(scope, values, low, high, unknown(len(values)) if predicted is None else predicted)


def from_values(values: Tensor, scope: Scope, predicted: Tensor | None = None) -> Batch:
    """A batch from values (N, units) alone: layers without maps, or maps whose extremes are not needed."""
    low = torch.stack([values[:, s].amin(1) for s in scope.slices], 1)
    high = torch.stack([values[:, s].amax(1) for s in scope.slices], 1)
    return Batch(scope, values, low, high, unknown(len(values)) if predicted is None else predicted)


def in_units(layer: Tensor, unit: Unit) -> Tensor:
    """One layer's activations (N, ...) as (N, units): channel means, or every position.

    A channel is the second dimension of a map and the last one of tokens (N, places, features).
    """
    if layer.ndim < 2:
        raise DataError(f"a layer gave values of shape {tuple(layer.shape)}", "expected (N, units) or maps")
    if unit == "element" or layer.ndim == 2:
        return layer.flatten(1)
    return layer.mean(1) if layer.ndim == 3 else layer.mean(tuple(range(2, layer.ndim)))


def width_of(layer: Tensor, unit: Unit) -> int:
    """How many units a layer's activations have."""
    return in_units(layer[:1].detach(), unit).shape[1]


def plain_values(batch: Batch) -> Tensor:
    """The values (N, units) without gradients, where memories are; the same tensor each time."""
    return batch.once("plain", lambda: batch.values.detach().cpu())


def unknown(count: int) -> Tensor:
    """The classes of inputs about which nothing is known."""
    return torch.full((count,), -1)
