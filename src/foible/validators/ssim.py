"""Is there a real image that looks alike? Structural similarity to the most similar of a thousand real images.

Wang et al., IEEE Transactions on Image Processing 13 (2004). DiffGAN keeps images from 0.4 on. Its known weakness is
measured in docs/judge.md: a blank image is similar to a thin stroke on a plain background.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from foible.domains import Domain, RealImages
from foible.domains.library import import_torchvision
from foible.errors import MissingExtra
from foible.types import Images
from foible.validators.scored import Scored
from foible.validators.usual import COUNT, some

NEAREST = 10  # real images, nearest in pixels, of which the most similar one counts


class SSIM(Scored):
    """The highest structural similarity to a real image.

    Catches noise and strange textures. Misses blank images and images whose label has changed.

    Args:
        domain: not used: any images can be compared.
        data: real images to compare with.
        threshold: from which similarity on an image is accepted; 0.4 is DiffGAN's.
    """

    name, about = "ssim", "image"

    def __init__(self, domain: Domain, data: RealImages, threshold: float = 0.4) -> None:
        del domain
        self.threshold, self.real = threshold, data.images(some(data, COUNT))

    @torch.inference_mode()
    def score(self, images: Images, labels: Tensor) -> Tensor:  # noqa: ARG002
        """Similarity in [0, 1]; what is below zero counts as zero."""
        return torch.cat([self._similarity(image[None]) for image in images]).clamp(0, 1)

    def _similarity(self, image: Images) -> Tensor:
        distance = (self.real - image).square().flatten(1).sum(1)
        nearest = self.real[distance.topk(min(NEAREST, len(self.real)), largest=False).indices]
        similarity: Tensor = _ssim()(image.expand_as(nearest), nearest, data_range=1.0, reduction="none")
        return similarity.amax()[None]


@cache
def _ssim() -> Callable[..., Any]:
    import_torchvision()  # torchmetrics meets it on import; a mismatched build must be put right before
    try:
        from torchmetrics.functional.image import structural_similarity_index_measure
    except ImportError:
        raise MissingExtra("torchmetrics", "training", "structural similarity") from None
    return structural_similarity_index_measure
