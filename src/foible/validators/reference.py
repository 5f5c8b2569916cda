"""Is the label kept? The reference classifiers vote, each with probabilities that can be believed."""

from __future__ import annotations

from torch import Tensor

from foible.domains import Domain
from foible.types import Images
from foible.validators.fitted import fitted
from foible.validators.scored import Scored


class Reference(Scored):
    """The panel's mean probability of the expected class.

    Catches images that have become another class. Misses nothing-at-all images on which the panel happens to be sure.

    Args:
        domain: what the images are meant to be of.
        threshold: from which probability on the label is kept.
    """

    name, about = "reference", "label"

    def __init__(self, domain: Domain, threshold: float = 0.5) -> None:
        parts = fitted(domain)
        self.panel, self.threshold, self.digests = parts.panel, threshold, dict(parts.digests)

    def score(self, images: Images, labels: Tensor) -> Tensor:
        """Probability of the expected class."""
        return self.panel(images).votes.gather(1, labels[:, None])[:, 0]
