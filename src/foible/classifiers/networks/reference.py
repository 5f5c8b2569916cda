"""Three architectures for reference classifiers: they share no building plan with each other or with deepconv and VGG.

residual: blocks with skip connections. all_convolutional: strided convolutions instead of pooling (Springenberg et
al., 2015). separable: depthwise convolutions between narrow layers (MobileNetV2).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional

from foible.classifiers.networks.vgg import convolution
from foible.types import Images


def both_sides(features: Callable[[Images], Tensor], images: Images, mirror: bool) -> Tensor:
    """Features (N, size) of images; with `mirror` the mean of an image's and its mirror image's, alike for both."""
    return (features(images) + features(images.flip(3))) / 2 if mirror else features(images)


class Residual(nn.Module):
    """A stem, then per width one widening convolution with pooling and one residual pair.

    Args:
        shape: channels, height, width of the images.
        classes: number of classes.
        widths: maps of the stem and after each widening.
        dropout: share of features dropped before the linear layer.
        mirror: outside training the features are the mean of those of the image and of its mirror image, at twice the
            cost: for domains in which left and right mean nothing.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        widths: tuple[int, ...] = (24, 48, 96, 128),
        dropout: float = 0.0,
        mirror: bool = False,
    ) -> None:
        super().__init__()
        self.mirror = mirror
        self.stem = convolution(shape[0], widths[0])
        self.widen = nn.ModuleList(
            nn.Sequential(convolution(a, b), nn.MaxPool2d(2, ceil_mode=True)) for a, b in pairwise(widths)
        )
        self.pairs = nn.ModuleList(nn.Sequential(convolution(w, w), convolution(w, w)) for w in widths[1:])
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(widths[-1], classes))

    def forward(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        logits: Tensor = self.head(both_sides(self._features, images, self.mirror and not self.training))
        return logits

    def _features(self, images: Images) -> Tensor:
        maps = self.stem(images)
        for widen, pair in zip(self.widen, self.pairs, strict=True):
            maps = widen(maps)
            maps = maps + pair(maps)
        return functional.adaptive_max_pool2d(maps, 1).flatten(1)


class AllConvolutional(nn.Module):
    """Pairs of convolutions, the second with stride 2; features averaged over the image at the end (`mirror` as above)."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        widths: tuple[int, ...] = (32, 64, 128),
        dropout: float = 0.1,
        mirror: bool = False,
    ) -> None:
        super().__init__()
        self.mirror = mirror
        layers: list[nn.Module] = []
        width = shape[0]
        for wider in widths:
            layers += [convolution(width, wider, size=5 if width == shape[0] else 3), convolution(wider, wider, 2)]
            layers += [nn.Dropout2d(dropout)]
            width = wider
        self.features = nn.Sequential(*layers, convolution(width, width, size=1))
        self.head = nn.Linear(width, classes)

    def forward(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        logits: Tensor = self.head(both_sides(self._pooled, images, self.mirror and not self.training))
        return logits

    def _pooled(self, images: Images) -> Tensor:
        maps: Tensor = self.features(images)
        return maps.mean((2, 3))


class Separable(nn.Module):
    """Inverted residual blocks: widen by 1x1, filter each map by itself, narrow by 1x1 (`mirror` as above)."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        widths: tuple[int, ...] = (24, 40, 64, 96),
        expansion: int = 4,
        dropout: float = 0.1,
        mirror: bool = False,
    ) -> None:
        super().__init__()
        self.mirror = mirror
        self.stem = convolution(shape[0], widths[0], stride=2 if min(shape[1:]) > 40 else 1)
        blocks: list[nn.Module] = []
        for a, b in pairwise(widths):
            blocks += [_Inverted(a, b, expansion, stride=2), _Inverted(b, b, expansion, stride=1)]
        self.blocks = nn.Sequential(*blocks, convolution(widths[-1], 2 * widths[-1], size=1))
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(2 * widths[-1], classes))

    def forward(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        logits: Tensor = self.head(both_sides(self._pooled, images, self.mirror and not self.training))
        return logits

    def _pooled(self, images: Images) -> Tensor:
        maps: Tensor = self.blocks(self.stem(images))
        return maps.mean((2, 3))


class _Inverted(nn.Module):
    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int) -> None:
        super().__init__()
        inner = inputs * expansion
        self.path = nn.Sequential(
            convolution(inputs, inner, size=1),
            convolution(inner, inner, stride, groups=inner),
            nn.Conv2d(inner, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.skip = stride == 1 and inputs == outputs

    def forward(self, maps: Tensor) -> Tensor:
        changed: Tensor = self.path(maps)
        return maps + changed if self.skip else changed
