"""From foible's images to what a model was trained on: the one place where values, size and channels change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from foible.classifiers.network import Layout, Precision
from foible.errors import RecipeError
from foible.types import Images

Colours = Literal["rgb", "bgr"]
LUMA = (0.299, 0.587, 0.114)  # how red, green and blue make grey (ITU-R BT.601)


@dataclass(frozen=True)
class Preprocessing:
    """How images become a model's input: channels, size, range, then mean and standard deviation.

    Attributes:
        channels: 1 or 3; colours become grey by their luminance, grey is repeated. None keeps what comes.
        colours: the order of three channels.
        size: height and width, reached by bilinear resizing with antialiasing. None keeps what comes.
        range: black and white as the model knows them: (0, 1), (0, 255), (-1, 1); (1, 0) inverts.
        mean: per channel, in the units of the range.
        std: per channel, in the units of the range.
        dtype: of the input; uint8 is rounded.
        layout: where the channels are.
    """

    channels: int | None = None
    colours: Colours = "rgb"
    size: tuple[int, int] | None = None
    range: tuple[float, float] = (0.0, 1.0)
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    dtype: Precision = "float32"
    layout: Layout = "nchw"

    def __post_init__(self) -> None:
        if any(s <= 0 for s in self.std):
            raise RecipeError(f"std must be positive, got {list(self.std)}", "it divides the pixels: 1.0 for none")
        if len({len(self.mean), len(self.std)} - {1}) > 1:
            raise RecipeError(
                f"mean has {len(self.mean)} values, std has {len(self.std)}", "one value for all channels, or one each"
            )
        if self.range[0] == self.range[1]:
            raise RecipeError(f"range {list(self.range)} is empty", "for example 0,1 or 0,255 or -1,1")
        if self.size is not None and min(self.size) < 1:
            raise RecipeError(f"size {list(self.size)} has no pixels", "height and width are at least 1")

    def __call__(self, images: Images) -> Tensor:
        """The model's input for images in [0, 1]; differentiable unless the input is uint8."""
        inputs = _with_channels(images, self.channels)
        if self.colours == "bgr":
            inputs = inputs.flip(1)
        if self.size is not None and tuple(inputs.shape[2:]) != self.size:
            inputs = interpolate(inputs, self.size, mode="bilinear", align_corners=False, antialias=True)
        black, white = self.range
        if (black, white) != (0.0, 1.0):
            inputs = inputs * (white - black) + black
        if set(self.mean) != {0.0} or set(self.std) != {1.0}:
            mean, std = (inputs.new_tensor(v).view(1, -1, 1, 1) for v in (self.mean, self.std))
            inputs = (inputs - mean) / std
        if self.dtype == "uint8":
            inputs = inputs.round().clamp(0, 255)
        if self.layout == "nhwc":
            inputs = inputs.permute(0, 2, 3, 1)
        return inputs.to(getattr(torch, self.dtype)).contiguous()

    def __str__(self) -> str:
        values = f"values {self.range[0]:g} to {self.range[1]:g}"
        if set(self.mean) != {0.0} or set(self.std) != {1.0}:
            values += f", mean {_numbers(self.mean)}, std {_numbers(self.std)}"
        size = f"{self.size[0]}x{self.size[1]}, " if self.size else ""
        rgb = f"{self.colours.upper()}, "
        plain = "" if self.colours == "rgb" else rgb
        channels = {None: plain, 1: "grey, ", 3: rgb}.get(self.channels, f"{self.channels} channels, ")
        layout = "" if self.layout == "nchw" else ", channels last"
        return size + channels + values + layout + ("" if self.dtype == "float32" else f", {self.dtype}")


def _with_channels(images: Images, channels: int | None) -> Images:
    have = images.shape[1]
    if channels is None or channels == have:
        return images
    if have == 1:
        return images.expand(-1, channels, -1, -1)
    if (have, channels) == (3, 1):
        return (images * images.new_tensor(LUMA).view(1, 3, 1, 1)).sum(1, keepdim=True)
    raise RecipeError(
        f"images with {have} channels cannot become images with {channels}", "grey and RGB turn into each other"
    )


def _numbers(values: tuple[float, ...]) -> str:
    return ", ".join(f"{v:.4g}" for v in values)
