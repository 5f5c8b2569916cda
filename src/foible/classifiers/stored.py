"""A classifier that is shown what a file would hold: where rounding to 8 bits decides, it must not come afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from foible.faces import Inspectable
from foible.images import rounded
from foible.protocols import Classifier
from foible.types import Images


class AsStored:
    """A classifier that is shown images as an 8-bit file would hold them; in all else it is the one it wraps."""

    def __init__(self, classifier: Classifier) -> None:
        self.wrapped = classifier

    def __call__(self, images: Images) -> Tensor:
        """Logits of the rounded images; gradients are those of the images as they are.

        Double precision is left as it is, for finite differences.
        """
        return self.wrapped(_as_stored(images))

    def inspect(self, images: Images, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Logits of the rounded images, and what these layers give."""
        assert isinstance(self.wrapped, Inspectable)
        return self.wrapped.inspect(_as_stored(images), layers)

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped":  # not there yet: while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.wrapped, name)


def _as_stored(images: Images) -> Images:
    if images.dtype == torch.float64:
        return images
    return images + (rounded(images.detach()) - images).detach()
