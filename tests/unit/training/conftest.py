"""Bars of grey as a domain large enough to train on in a second."""

import numpy as np
import pytest
import torch

from foible.domains import Domain
from foible.domains.images import ImageArray


@pytest.fixture
def bars():
    """A domain of three classes: which third of an 8x8 image is bright."""
    return Domain(name="bars", shape=(1, 8, 8), classes=("left", "middle", "right"))


@pytest.fixture
def bar_images():
    """240 images of that domain."""
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 3
    pixels = rng.integers(0, 60, (240, 1, 8, 8), dtype=np.uint8)
    for image, label in zip(pixels, labels, strict=True):
        image[:, :, 3 * label : 3 * label + 2] += 150
    return ImageArray("bars", pixels, torch.from_numpy(labels))
