"""deepconv: pairs of convolutions and two fully connected layers."""

from __future__ import annotations

from torch import Tensor, nn

from foible.types import Images


class DeepConv(nn.Module):
    """The MNIST classifier of GIFTbench: two pairs of 3x3 convolutions, then 512 units; dropout before each layer."""

    def __init__(
        self, shape: tuple[int, int, int], classes: int, width: int = 32, hidden: int = 512, dropout: float = 0.5
    ) -> None:
        super().__init__()
        channels, height, breadth = shape
        self.features = nn.Sequential(*_pair(channels, width), *_pair(width, 2 * width), nn.Flatten())
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(2 * width * (height // 4) * (breadth // 4), hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, classes),
        )

    def forward(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        logits: Tensor = self.head(self.features(images))
        return logits


def _pair(inputs: int, width: int) -> list[nn.Module]:
    return [
        nn.Conv2d(inputs, width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
    ]
