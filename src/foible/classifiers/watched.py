"""A classifier whose units are watched: in the pass that gives its scores, one value per unit, on the same graph.

To whoever reads it, all measured layers are one layer of units, with the extremes of each layer's maps beside it; so what is
recorded does not depend on what the layers of a particular network are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from foible.classifiers.scopes import measured_layers, scope_seen
from foible.coverage import Batch, Scope, read
from foible.coverage.scope import Unit, Where
from foible.faces import Inspectable
from foible.protocols import Classifier
from foible.types import Images

UNITS, LOW, HIGH = "all units", "smallest of each layer", "largest of each layer"
WATCHED = (UNITS, LOW, HIGH)


class Watched:
    """A classifier that shows its units; its scores, name and classes are those of the one inside.

    Args:
        classifier: one that lends activations.
        layers: which to watch; left out: found by what they are.
        where: before or after the activation function.
        unit: a channel or every position.
    """

    def __init__(
        self, classifier: Classifier, layers: Sequence[str] = (), where: Where = "pre", unit: Unit = "channel"
    ) -> None:
        self.classifier, self.name, self.classes = classifier, classifier.name, classifier.classes
        self.offers = classifier.offers
        self.watched = measured_layers(classifier, layers, where)
        self.where: Where = where
        self.unit: Unit = unit
        self.scope: Scope | None = None  # known once a first image has gone through

    def __call__(self, images: Images) -> Tensor:
        """Logits (N, classes)."""
        return self.classifier(images)

    def layers(self) -> tuple[str, ...]:
        """The units, and the extremes of their layers."""
        return WATCHED

    def inspect(self, images: Images, layers: Sequence[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Logits (N, classes), units (N, units) and the extremes of each layer's maps (N, layers), in one pass."""
        assert isinstance(self.classifier, Inspectable)
        logits, seen = self.classifier.inspect(images, self.watched)
        if self.scope is None:
            self.scope = scope_seen(self.classifier, seen, logits.shape[1], self.where, self.unit)
        batch = read(seen, self.scope)
        shown = {UNITS: batch.values, LOW: batch.low, HIGH: batch.high}
        return logits, {name: shown[name] for name in layers}

    def batch(self, images: Images) -> Batch:
        """What the units give for images, with the classes that they are taken for; no gradients."""
        with torch.no_grad():
            logits, seen = self.inspect(images, WATCHED)
        assert self.scope is not None
        return Batch(self.scope, seen[UNITS], seen[LOW], seen[HIGH], logits.argmax(1))
