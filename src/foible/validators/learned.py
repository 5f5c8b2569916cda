"""Valid or not? A small network on the reference classifiers' features, taught with real and made-up invalid images."""

from __future__ import annotations

from torch import Tensor

from foible.domains import Domain
from foible.types import Images
from foible.validators.fitted import fitted
from foible.validators.scored import Scored


class Learned(Scored):
    """Probability of being valid.

    Catches the kinds of nonsense it was shown, and their relatives. Says little about kinds that nobody thought of.

    Args:
        domain: what the images are meant to be of.
        threshold: from which probability on an image is accepted.
    """

    name, about = "learned", "image"

    def __init__(self, domain: Domain, threshold: float = 0.5) -> None:
        self.parts, self.threshold = fitted(domain), threshold
        self.digests = dict(self.parts.digests)

    def score(self, images: Images, labels: Tensor) -> Tensor:  # noqa: ARG002
        """Probability of being valid."""
        return self.parts.head(self.parts.closeness.place(self.parts.panel(images).features))
