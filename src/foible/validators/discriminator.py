"""Does the discriminator of a GAN take it for real?"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from foible.domains import Domain, RealImages
from foible.errors import RecipeError
from foible.types import Images
from foible.validators.scored import Percentile, Scored
from foible.validators.usual import usual
from foible.zoo.resolve import resolve


class Discriminator(Scored):
    """Share of real images that the discriminator finds less real for their class.

    Catches what its own generator used to do wrong. Knows nothing of faults that generator never had.

    Args:
        domain: what the images are meant to be of.
        data: real images to compare with.
        use: a GAN with its discriminator: a zoo name or a model file.
        threshold: from which score on an image is accepted.
    """

    name, about = "discriminator", "image"

    def __init__(self, domain: Domain, data: RealImages, use: str | None = None, threshold: float = 0.02) -> None:
        use = use or f"{domain.name}-gan"
        resolved = resolve("generators", use, {})
        if not hasattr(resolved.model, "realness"):
            raise RecipeError(f"generator '{use}' has no discriminator", "name a GAN")
        self.generator: Any = resolved.model
        self.threshold, self.digests = threshold, resolved.digests
        self.usual: Percentile = usual(data, self.raw)

    def raw(self, images: Images, labels: Tensor) -> Tensor:
        """The discriminator's score (N,)."""
        scores: Tensor = self.generator.realness(images, labels)
        return scores

    def score(self, images: Images, labels: Tensor) -> Tensor:
        """Share of real images that look less real."""
        return self.usual(self.raw(images, labels))
