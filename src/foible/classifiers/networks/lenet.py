"""LeNet-1, LeNet-4 and LeNet-5 as DeepXplore and DLFuzz test them.

Two 5x5 convolutions that keep the size, each with ReLU and 2x2 max pooling, then the fully connected layers. For
28x28 grey images and 10 classes: 7,206, 69,362 and 107,786 parameters.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from foible.types import Images


class LeNet(nn.Module):
    """Two convolutions of the given widths, then fully connected layers of the given sizes."""

    def __init__(
        self, shape: tuple[int, int, int], classes: int, convolutions: tuple[int, int], hidden: tuple[int, ...]
    ) -> None:
        super().__init__()
        channels, height, width = shape
        first, second = convolutions
        self.features = nn.Sequential(
            nn.Conv2d(channels, first, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(first, second, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
        )
        sizes = [second * (height // 4) * (width // 4), *hidden]
        layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
        self.head = nn.Sequential(*layers, nn.Linear(sizes[-1], classes))

    def forward(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        logits: Tensor = self.head(self.features(images))
        return logits


def lenet1(shape: tuple[int, int, int], classes: int) -> LeNet:
    """LeNet-1: 4 and 12 maps, no hidden layer."""
    return LeNet(shape, classes, (4, 12), ())


def lenet4(shape: tuple[int, int, int], classes: int) -> LeNet:
    """LeNet-4: 6 and 16 maps, 84 hidden units."""
    return LeNet(shape, classes, (6, 16), (84,))


def lenet5(shape: tuple[int, int, int], classes: int) -> LeNet:
    """LeNet-5: 6 and 16 maps, 120 and 84 hidden units."""
    return LeNet(shape, classes, (6, 16), (120, 84))
