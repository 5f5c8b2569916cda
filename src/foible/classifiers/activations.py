"""What the layers of a torch module give, by name, in the pass that gives its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from torch import Tensor, nn

from foible.errors import ModelError, did_you_mean

Kept = dict[str, tuple[Tensor, int | None]]  # what layers gave, and how often it had been changed in place by then


def layer_names(module: nn.Module) -> tuple[str, ...]:
    """The names of all submodules, as `features.0`."""
    return tuple(name for name, _ in module.named_modules() if name)


def run_and_record(module: nn.Module, inputs: Tensor, layers: Sequence[str]) -> tuple[Any, dict[str, Tensor]]:
    """What a module gives, and what the named submodules gave on the way, in the order they were asked for.

    Where gradients are on, both hang on one graph. A layer that runs several times in one pass shows its last output.
    """
    known_layers(layers, layer_names(module))
    in_place = any(getattr(part, "inplace", False) for part in module.modules())
    output, kept = _run(module, inputs, layers, copy=in_place)
    if any(version is not None and tensor._version != version for tensor, version in kept.values()):
        output, kept = _run(module, inputs, layers, copy=True)  # something worked in place without saying so
    return output, in_order({name: tensor for name, (tensor, _) in kept.items()}, layers)


def _run(module: nn.Module, inputs: Tensor, layers: Sequence[str], copy: bool) -> tuple[Any, Kept]:
    kept: Kept = {}
    with ExitStack() as hooks:
        for name in dict.fromkeys(layers):
            handle = module.get_submodule(name).register_forward_hook(_keeper(kept, name, copy))
            hooks.callback(handle.remove)
        return module(inputs), kept


def known_layers(asked: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a layer name that the model does not have."""
    for name in asked:
        if name not in known:
            raise ModelError(f"the classifier has no layer '{name}'", did_you_mean(name, known))


def in_order(kept: dict[str, Tensor], layers: Sequence[str]) -> dict[str, Tensor]:
    """The activations as asked for; a layer that gave nothing to look at is named."""
    for name in layers:
        if name not in kept:
            raise ModelError(
                f"layer '{name}' gave no tensor in this pass", "it does not run, or gives something else: name another"
            )
    return {name: kept[name] for name in layers}


def _keeper(kept: Kept, name: str, copy: bool) -> Callable[[nn.Module, Any, Any], None]:
    def keep(_module: nn.Module, _inputs: Any, output: Any) -> None:
        if isinstance(output, tuple | list) and output:
            output = output[0]
        if not isinstance(output, Tensor):
            return
        if copy or output.is_inference():  # the next layer may work in place, as nn.ReLU(inplace=True) does
            kept[name] = output.clone(), None
        else:
            kept[name] = output, output._version

    return keep
