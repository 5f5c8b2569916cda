"""Other versions of the same model, as compressing it for deployment makes them: what `foible diff` is asked about most.

    int8-weights      weights rounded to 8-bit integers, one scale per output channel; sums in float32
    int8              the same, and every layer's input rounded to 8 bits too, one scale per image
    float16-weights   weights rounded to half precision; sums in float32
    float16           weights, inputs and sums in half precision
    bfloat16          the same in bfloat16
    pruned            the smallest weights set to zero

Integers are emulated: numbers are rounded to the grid that int8 kernels use and multiplied in float32, which differs from
integer sums by float32's own rounding alone. Each image has a scale of its own, so that what a variant says of an
image does not depend on the others in its batch (torch's and onnxruntime's dynamic kernels take one for the batch).
The int8 kernels of a runtime themselves are reached through ONNX, see `onnx_variants.py`.

Models of the zoo are stored in half precision: their float16-weights variant is the very same model.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor, nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.network import ModuleNetwork
from foible.errors import RecipeError, did_you_mean

LARGEST = 127  # of a signed byte, used symmetrically
PRUNED = 0.5  # share of weights

Layer = nn.Conv1d | nn.Conv2d | nn.Conv3d | nn.Linear


class InHalf(nn.Module):
    """A module that works in a narrower type between float32 images and float32 scores."""

    def __init__(self, module: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.module, self.dtype = module.to(dtype), dtype

    def forward(self, inputs: Tensor) -> Tensor:
        """Scores in float32."""
        scores: Tensor = self.module(inputs.to(self.dtype))
        return scores.float()


def variant(module: nn.Module, kind: str, share: float = PRUNED) -> nn.Module:
    """A new module that differs from a float32 one as the kind says; the given one is not touched.

    Args:
        module: any PyTorch module; convolutions and linear layers are what changes.
        kind: one of `variant_kinds()`.
        share: of all weights, how many `pruned` sets to zero.
    """
    if kind not in MAKERS:
        raise RecipeError(f"no model variant '{kind}'", did_you_mean(kind, MAKERS))
    if not 0 < share < 1:
        raise RecipeError(f"pruned: share {share} must lie between 0 and 1", "0.5 sets every second weight to zero")
    copy = deepcopy(module).eval().requires_grad_(False)
    if not _layers(copy):
        raise RecipeError(
            f"a {type(module).__name__} has no convolution or linear layer, so that nothing of it can be compressed",
            "give the network itself, not a function around it",
        )
    return MAKERS[kind](copy, share).eval()


def classifier_variant(classifier: AdaptedClassifier, kind: str, share: float = PRUNED) -> AdaptedClassifier:
    """A classifier's variant, with its preprocessing and classes, named `classifier-kind`."""
    return AdaptedClassifier(
        f"{classifier.name}-{kind}",
        variant(module_of(classifier), kind, share),
        classifier.classes,
        classifier.preprocessing,
        classifier.output,
        None if classifier.columns is None else classifier.columns.tolist(),
    )


def module_of(classifier: AdaptedClassifier) -> nn.Module:
    """The torch module behind a classifier."""
    if not isinstance(classifier.network, ModuleNetwork):
        raise RecipeError(
            f"'{classifier.name}' is not a PyTorch module, so that no variant of it can be made",
            "use weights with file.py:factory, a model of the zoo or of a hub",
        )
    return classifier.network.module


def variant_kinds() -> tuple[str, ...]:
    """What can be made of a module."""
    return tuple(MAKERS)


def _int8_weights(module: nn.Module, _: float) -> nn.Module:
    for layer in _layers(module):
        scale = (layer.weight.detach().flatten(1).abs().amax(1) / LARGEST).clamp_min(1e-12)
        zero = torch.zeros_like(scale, dtype=torch.int32)
        layer.weight.copy_(torch.fake_quantize_per_channel_affine(layer.weight, scale, zero, 0, -LARGEST, LARGEST))
    return module


def _int8(module: nn.Module, share: float) -> nn.Module:
    for layer in _layers(_int8_weights(module, share)):
        layer.register_forward_pre_hook(_rounded_inputs)
    return module


def _rounded_inputs(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """A layer's input on a grid of 255 values between minus and plus the largest of each image."""
    first, *rest = inputs
    scale = (first.flatten(1).abs().amax(1) / LARGEST).clamp_min(1e-12).view(-1, *[1] * (first.ndim - 1))
    return (first / scale).round() * scale, *rest


def _float16_weights(module: nn.Module, _: float) -> nn.Module:
    for parameter in (*module.parameters(), *module.buffers()):
        if parameter.is_floating_point():
            parameter.copy_(parameter.half().float())
    return module


def _pruned(module: nn.Module, share: float) -> nn.Module:
    """By size over all layers together; torch's own pruning cannot take weights in another memory format."""
    weights = [layer.weight for layer in _layers(module)]
    sizes = torch.cat([weight.detach().abs().reshape(-1) for weight in weights])
    kept = torch.ones_like(sizes)
    kept[sizes.argsort(stable=True)[: round(share * len(sizes))]] = 0
    for weight, mask in zip(weights, kept.split([weight.numel() for weight in weights]), strict=True):
        weight.mul_(mask.view(weight.shape))
    return module


def _layers(module: nn.Module) -> list[Layer]:
    return [layer for layer in module.modules() if isinstance(layer, Layer)]


MAKERS: dict[str, Callable[[nn.Module, float], nn.Module]] = {
    "int8-weights": _int8_weights,
    "int8": _int8,
    "float16-weights": _float16_weights,
    "float16": lambda module, _: InHalf(module, torch.float16),
    "bfloat16": lambda module, _: InHalf(module, torch.bfloat16),
    "pruned": _pruned,
}
