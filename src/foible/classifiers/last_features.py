"""What a classifier's last linear layer is given: the features by which it tells classes apart."""

from __future__ import annotations

from threading import local
from typing import NamedTuple

from torch import Tensor, nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.network import ModuleNetwork
from foible.errors import ModelError
from foible.types import Images


class Seen(NamedTuple):
    """One pass of a classifier over images."""

    logits: Tensor  # (N, classes)
    features: Tensor  # (N, size)


class LastFeatures:
    """A classifier that also tells its last features."""

    def __init__(self, classifier: AdaptedClassifier) -> None:
        network = classifier.network
        modules = network.module.modules() if isinstance(network, ModuleNetwork) else ()
        linear = [m for m in modules if isinstance(m, nn.Linear)]
        if not linear:
            raise ModelError(f"classifier '{classifier.name}' has no linear layer", "pick one that ends in nn.Linear")
        self.classifier, self.name, self.size = classifier, classifier.name, linear[-1].in_features
        self._passing = local()  # several threads may look through one network
        linear[-1].register_forward_pre_hook(self._keep)

    def _keep(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self._passing.seen = inputs[0]

    def __call__(self, images: Images) -> Seen:
        """Logits and features in one pass."""
        logits = self.classifier(images)
        seen: Tensor = self._passing.seen.flatten(1)
        del self._passing.seen
        return Seen(logits, seen)
