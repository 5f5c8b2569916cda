"""EfficientNet-Lite for small images: they are enlarged first, so that what was learnt on photographs can be used.

Tan and Le, "EfficientNet: rethinking model scaling for convolutional neural networks" (2019), in the variant without
squeeze-and-excitation and with ReLU6. The layers come in the order of the published weights, by which these are taken over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn import functional

from foible.classifiers.networks.reference import both_sides
from foible.errors import ModelError
from foible.types import Images

# repeats, kernel, stride of the first, expansion, maps
STAGES = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))  # fmt: skip
STEM, HEAD = 32, 1280


class EfficientNetLite(nn.Module):
    """Inverted residual blocks on enlarged images.

    Args:
        shape: channels, height, width of the images; three channels.
        classes: number of classes.
        side: height and width to which images are brought, bilinearly; a multiple of 32.
        depth: factor on the repeats of all stages but the first and the last; 1.0 is Lite0, 1.1 Lite1.
        dropout: share of features dropped before the linear layer.
        mirror: outside training the features are the mean of those of the image and of its mirror image.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        side: int = 64,
        depth: float = 1.0,
        dropout: float = 0.2,
        mirror: bool = False,
    ) -> None:
        super().__init__()
        if shape[0] != 3 or side % 32:
            raise ModelError(
                f"an EfficientNet takes 3 channels and a side divisible by 32, got {shape[0]} and {side}",
                "use the network 'residual' for grey images",
            )
        self.side, self.mirror = side, mirror
        self.stem = _convolution(STEM, 3, 3, 2)
        blocks, width = list[nn.Module](), STEM
        for number, (repeats, size, stride, expansion, wider) in enumerate(STAGES):
            fixed = number in {0, len(STAGES) - 1}
            for repeat in range(repeats if fixed else math.ceil(depth * repeats)):
                blocks.append(_Block(width, wider, size, stride if repeat == 0 else 1, expansion))
                width = wider
        self.blocks = nn.Sequential(*blocks)
        self.top = _convolution(HEAD, width, 1, 1)
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(HEAD, classes))

    def forward(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        logits: Tensor = self.head(both_sides(self._enlarged, images, self.mirror and not self.training))
        return logits

    def _enlarged(self, images: Images) -> Tensor:
        return self.features(
            functional.interpolate(images, (self.side, self.side), mode="bilinear", align_corners=False)
        )

    def features(self, images: Images) -> Tensor:
        """What the linear layer is given, (N, 1280), of images in the size in which they are looked at."""
        maps: Tensor = self.top(self.blocks(self.stem(images)))
        return maps.mean((2, 3))

    def start_from(self, published: Mapping[str, Tensor]) -> None:
        """Take over published weights for photographs, all but those of the classes."""
        own = {k: v for k, v in self.state_dict().items() if not k.startswith("head.")}
        theirs = [v for k, v in published.items() if not k.startswith("_fc.")]
        if [tuple(v.shape) for v in theirs] != [tuple(v.shape) for v in own.values()]:
            raise ModelError(
                f"these weights ({len(theirs)} tensors) are not those of this network ({len(own)})",
                "depth 1.0 is Lite0, 1.1 is Lite1",
            )
        self.load_state_dict(dict(zip(own, theirs, strict=True)), strict=False)


class _Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, size: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = inputs * expansion
        widen = [_convolution(inner, inputs, 1, 1)] if expansion != 1 else []
        self.path = nn.Sequential(
            *widen,
            _convolution(inner, inner, size, stride, groups=inner),
            nn.Conv2d(inner, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs, eps=1e-3),
        )
        self.skip = stride == 1 and inputs == outputs

    def forward(self, maps: Tensor) -> Tensor:
        changed: Tensor = self.path(maps)
        return maps + changed if self.skip else changed


def _convolution(outputs: int, inputs: int, size: int, stride: int, groups: int = 1) -> nn.Sequential:
    """Convolution, batch norm, ReLU6; an even image that is halved gets its padding right and below, as published."""
    lesser, margin = (size - stride) // 2, max(0, size - stride)
    pad = [nn.ZeroPad2d((lesser, margin - lesser, lesser, margin - lesser))] if stride > 1 else []
    return nn.Sequential(
        *pad,
        nn.Conv2d(inputs, outputs, size, stride, size // 2 if stride == 1 else 0, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=1e-3),
        nn.ReLU6(inplace=True),
    )
