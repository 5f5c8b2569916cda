"""Which layers of a classifier to measure, found by what its submodules are, or as the user names them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foible.coverage import Scope
from foible.coverage.batch import width_of
from foible.coverage.scope import UNBOUNDED, Unit, Where
from foible.errors import ModelError
from foible.faces import Inspectable
from foible.types import Images

LINEAR = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMAL = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.GroupNorm, nn.InstanceNorm2d)
ABOVE_ZERO = (0.0, math.inf)
ACTIVATIONS: dict[type[nn.Module], tuple[float, float]] = {
    nn.ReLU: ABOVE_ZERO,
    nn.ReLU6: (0.0, 6.0),
    nn.Softplus: ABOVE_ZERO,
    nn.Sigmoid: (0.0, 1.0),
    nn.Softmax: (0.0, 1.0),
    nn.Hardsigmoid: (0.0, 1.0),
    nn.Tanh: (-1.0, 1.0),
    nn.Hardtanh: UNBOUNDED,
    nn.LeakyReLU: UNBOUNDED,
    nn.PReLU: UNBOUNDED,
    nn.ELU: UNBOUNDED,
    nn.SELU: UNBOUNDED,
    nn.GELU: UNBOUNDED,
    nn.SiLU: UNBOUNDED,
    nn.Hardswish: UNBOUNDED,
    nn.Mish: UNBOUNDED,
}


def scope_of(
    classifier: Any,
    probe: Images,
    layers: Sequence[str] = (),
    where: Where = "pre",
    unit: Unit = "channel",
    trace: Sequence[str] = (),
) -> Scope:
    """What to measure of a classifier.

    Args:
        classifier: one that lends activations.
        probe: a few images, to see how wide the layers are.
        layers: names; left out: all convolutions and linear maps ("pre", with the normalisation behind them), or all
            activation functions ("post").
        where: before or after the activation function; with `layers`, what these are.
        unit: "channel" or "element".
        trace: the layers by which surprise is measured; left out: the last but one.
    """
    named = measured_layers(classifier, layers, where)
    with torch.no_grad():
        logits, seen = classifier.inspect(probe, named)
    return scope_seen(classifier, seen, logits.shape[1], where, unit, trace)


def measured_layers(classifier: Any, layers: Sequence[str], where: Where) -> tuple[str, ...]:
    """The layers as they are named, or those that are found; a classifier that shows none is refused."""
    if not isinstance(classifier, Inspectable) or not classifier.layers():
        raise ModelError(
            f"classifier '{getattr(classifier, 'name', type(classifier).__name__)}' lends no activations",
            "use a torch module, an ONNX file, an exported program, or weights with file.py:factory",
        )
    return tuple(layers) or chosen_layers(classifier, where)


def scope_seen(
    classifier: Any, seen: Mapping[str, Tensor], classes: int, where: Where, unit: Unit, trace: Sequence[str] = ()
) -> Scope:
    """The scope of layers that have shown what they give."""
    widths = tuple(width_of(values, unit) for values in seen.values())
    bounds = tuple(bounds_of(classifier, name) for name in seen)
    return Scope(tuple(seen), widths, unit, where, bounds, tuple(trace), classes)


def incoming_weights(classifier: Any, scope: Scope) -> Tensor:
    """The mean weight with which each channel is fed (units,), of the layer itself or of the one before it.

    DLFuzz takes units with large ones for influential.
    """
    module = module_of(classifier)
    leaves = [] if module is None else [(n, p) for n, p in module.named_modules() if not any(p.children())]
    means, fed = dict[str, Tensor](), None
    for name, part in leaves:
        if isinstance(part, LINEAR):
            fed = part.weight.detach().flatten(1).mean(1).cpu()
        if fed is not None:
            means[name] = fed
    for name, width in zip(scope.layers, scope.widths, strict=True):
        if name not in means or len(means[name]) != width:
            raise ModelError(
                f"layer '{name}' of '{classifier.name}' has no weight for each of its {width} units",
                'choose units another way: chooses = "cheapest"',
            )
    return torch.cat([means[name] for name in scope.layers])


def chosen_layers(classifier: Any, where: Where) -> tuple[str, ...]:
    """All layers of one kind, in the order in which the module lists them."""
    module, known = module_of(classifier), classifier.layers()
    if module is None and len(known) == 1:
        return tuple(known)
    if module is None:
        raise ModelError(
            f"the layers of '{classifier.name}' do not say what they are", "name them: --layers " + _some(classifier)
        )
    leaves = [(name, part) for name, part in module.named_modules() if name and not any(part.children())]
    if where == "post":
        found = [name for name, part in leaves if isinstance(part, tuple(ACTIVATIONS))]
    else:
        followed = [*leaves[1:], ("", nn.Identity())]
        found = [
            after if isinstance(then, NORMAL) else name
            for (name, part), (after, then) in zip(leaves, followed, strict=True)
            if isinstance(part, LINEAR)
        ]
    if not found:
        what = "activation functions" if where == "post" else "convolutions or linear layers"
        raise ModelError(
            f"'{classifier.name}' has no {what} as submodules", "name layers: --layers " + _some(classifier)
        )
    return tuple(found)


def bounds_of(classifier: Any, name: str) -> tuple[float, float]:
    """What a layer's values cannot leave, where its kind says so."""
    module = module_of(classifier)
    part = None if module is None else dict(module.named_modules()).get(name)
    if isinstance(part, nn.Hardtanh) and not isinstance(part, nn.ReLU6):
        return float(part.min_val), float(part.max_val)
    return ACTIVATIONS.get(type(part), UNBOUNDED) if part is not None else UNBOUNDED


def module_of(classifier: Any) -> nn.Module | None:
    """The torch module inside a classifier, where there is one."""
    parts = (getattr(getattr(classifier, "network", None), "module", None), getattr(classifier, "module", None))
    return next((part for part in parts if isinstance(part, nn.Module)), None)


def _some(classifier: Inspectable) -> str:
    names = classifier.layers()
    return ",".join(names[:6]) + (",..." if len(names) > 6 else "")
