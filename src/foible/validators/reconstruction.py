"""Can an autoencoder of the domain draw it again?"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from foible.domains import Domain, RealImages
from foible.errors import RecipeError
from foible.faces import Encoder
from foible.types import Images
from foible.validators.scored import Percentile, Scored
from foible.validators.usual import usual
from foible.zoo.resolve import resolve


class Reconstruction(Scored):
    """Share of real images that the autoencoder draws worse (mean squared error).

    Catches textures and shapes the autoencoder has never seen. Misses everything simple, blank images above all, and
    whatever the same autoencoder has made: its images lie where it draws well.

    Args:
        domain: what the images are meant to be of.
        data: real images to compare with.
        use: a generator that encodes: a zoo name or a model file.
        threshold: from which score on an image is accepted.
    """

    name, about = "reconstruction", "image"

    def __init__(self, domain: Domain, data: RealImages, use: str | None = None, threshold: float = 0.02) -> None:
        use = use or f"{domain.name}-vae"
        resolved = resolve("generators", use, {})
        if not isinstance(resolved.model, Encoder):
            raise RecipeError(f"generator '{use}' cannot encode images", "name one that can, such as a VAE")
        self.generator: Any = resolved.model
        self.threshold, self.digests = threshold, resolved.digests
        self.usual: Percentile = usual(data, self.raw)

    def raw(self, images: Images, labels: Tensor) -> Tensor:
        """Minus the mean squared error (N,)."""
        drawn: Images = self.generator.decode(self.generator.encode(images, labels), labels)
        return -(drawn - images).square().flatten(1).mean(1)

    def score(self, images: Images, labels: Tensor) -> Tensor:
        """Share of real images that are drawn worse."""
        return self.usual(self.raw(images, labels))
