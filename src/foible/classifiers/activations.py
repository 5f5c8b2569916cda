"""What the layers of a torch module give, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from torch import Tensor, nn

from foible.errors import RecipeError, did_you_mean


def layer_names(module: nn.Module) -> tuple[str, ...]:
    """The names of all submodules, as `features.0`."""
    return tuple(name for name, _ in module.named_modules() if name)


def record(module: nn.Module, inputs: Tensor, layers: Sequence[str]) -> Mapping[str, Tensor]:
    """Run a module once and keep what the named submodules give, each (N, ...)."""
    return run_and_record(module, inputs, layers)[1]


def run_and_record(module: nn.Module, inputs: Tensor, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
    """What a module gives, and what the named submodules gave on the way.

    A layer that runs several times in one pass shows its last output.
    """
    known_layers(layers, layer_names(module))
    kept: dict[str, Tensor] = {}
    with ExitStack() as hooks:
        for name in layers:
            handle = module.get_submodule(name).register_forward_hook(_keeper(kept, name))
            hooks.callback(handle.remove)
        output = module(inputs)
    return output, {name: kept[name] for name in layers if name in kept}


def known_layers(asked: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a layer name that the model does not have."""
    for name in asked:
        if name not in known:
            raise RecipeError(f"the classifier has no layer '{name}'", did_you_mean(name, known))


def _keeper(kept: dict[str, Tensor], name: str) -> Callable[[nn.Module, Any, Any], None]:
    def keep(_module: nn.Module, _inputs: Any, output: Any) -> None:
        if isinstance(output, tuple | list) and output:
            output = output[0]
        if isinstance(output, Tensor):
            kept[name] = output

    return keep
