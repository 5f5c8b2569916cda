"""A classifier that is shown what a file would hold: where rounding to 8 bits decides, it must not come afterwards."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from foible.images import rounded
from foible.protocols import Classifier
from foible.types import Images


class AsStored:
    """A classifier that is shown images as an 8-bit file would hold them; in all else it is the one it wraps."""

    def __init__(self, classifier: Classifier) -> None:
        self.wrapped = classifier

    def __call__(self, images: Images) -> Tensor:
        """Logits of the rounded images; gradients are those of the images as they are."""
        return self.wrapped(images + (rounded(images.detach()) - images).detach())

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped":  # not there yet: while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.wrapped, name)
