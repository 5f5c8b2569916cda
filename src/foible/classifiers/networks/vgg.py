"""VGG with batch norm for small images: blocks of 3x3 convolutions, each ending in a 2x2 max pooling."""

from __future__ import annotations

from torch import Tensor, nn

from foible.types import Images


class VGG(nn.Module):
    """Blocks of convolutions with batch norm, global average pooling and one linear layer.

    Args:
        shape: channels, height, width of the images.
        classes: number of classes.
        blocks: per block, the widths of its convolutions.
        dropout: share of features dropped before the linear layer.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        blocks: tuple[tuple[int, ...], ...] = ((32,), (64, 64), (128, 128), (256,)),
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = shape[0]
        for block in blocks:
            for wider in block:
                layers += [convolution(width, wider)]
                width = wider
            layers += [nn.MaxPool2d(2, ceil_mode=True)]
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(width, classes))

    def forward(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        logits: Tensor = self.head(self.features(images))
        return logits


def convolution(inputs: int, outputs: int, stride: int = 1, size: int = 3, groups: int = 1) -> nn.Sequential:
    """Convolution without bias, batch norm, ReLU; the size is kept where the stride is 1."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )
