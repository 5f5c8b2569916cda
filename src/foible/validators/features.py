"""Is the image like real ones? Distance in the reference classifiers' features to the nearest class of real images."""

from __future__ import annotations

from torch import Tensor

from foible.domains import Domain
from foible.types import Images
from foible.validators.fitted import fitted
from foible.validators.scored import Scored


class Features(Scored):
    """Share of real images that lie farther out.

    Catches images unlike anything seen. Misses nonsense that the networks are blind to, and is strict with unusual but
    plain images.

    Args:
        domain: what the images are meant to be of.
        threshold: from which share on an image is accepted.
    """

    name, about = "features", "image"

    def __init__(self, domain: Domain, threshold: float = 0.01) -> None:
        self.parts, self.threshold = fitted(domain), threshold
        self.digests = dict(self.parts.digests)

    def score(self, images: Images, labels: Tensor) -> Tensor:  # noqa: ARG002
        """Share of real images that look stranger."""
        return self.parts.usual(self.parts.closeness(self.parts.panel(images)))
