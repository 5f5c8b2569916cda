"""Feature extractors: what FID and KID look at. Every one has a name, and numbers of different ones never meet.

An Inception network is used where its weights already lie in torch's cache and torch-fidelity is installed (nothing is
downloaded); otherwise the first reference classifier of the domain.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor, nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.last_features import LastFeatures
from foible.domains import Domain
from foible.errors import ModelError
from foible.types import Images
from foible.zoo.catalogue import entries, entry
from foible.zoo.files import load_model

INCEPTION = "weights-inception-2015-12-05-6726825d.pth"


class Features(nn.Module):
    """Images in [0, 1] to features (N, num_features), under a name that says what made them."""

    name: str
    num_features: int


class GivenFeatures(Features):
    """Features that were made before, passed on as they are."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__()
        self.name, self.num_features = name, size

    def forward(self, features: Tensor) -> Tensor:
        """The features themselves."""
        return features


class ClassifierFeatures(Features):
    """What a classifier's last linear layer is given."""

    def __init__(self, classifier: AdaptedClassifier) -> None:
        super().__init__()
        self.last = LastFeatures(classifier)
        self.name, self.num_features = f"last features of {classifier.name}", self.last.size

    def forward(self, images: Images) -> Tensor:
        """Features (N, num_features)."""
        return self.last(images).features


class InceptionFeatures(Features):
    """The 2048 features of the network that published FID values use."""

    name, num_features = "Inception-v3 (2015-12-05), 2048", 2048

    def __init__(self) -> None:
        super().__init__()
        from torch_fidelity.feature_extractor_inceptionv3 import FeatureExtractorInceptionV3

        self.network = FeatureExtractorInceptionV3("inception", ["2048"], str(_inception_weights()))

    def forward(self, images: Images) -> Tensor:
        """Features (N, 2048); grey images are shown as grey RGB."""
        pixels = images.expand(-1, 3, -1, -1).mul(255).round().byte()
        features: Tensor = self.network(pixels)[0]
        return features


def features_for(domain: Domain, teacher: str | None = None) -> Features:
    """The extractor of a domain: Inception where it is there, else its first reference classifier in the zoo.

    Args:
        domain: names its references.
        teacher: a classifier that taught what is to be judged, and so has no say.
    """
    if _inception_weights().is_file() and find_spec("torch_fidelity"):
        return InceptionFeatures()
    for name in (*domain.references, domain.classifier):
        if name in entries() and name != teacher:
            return ClassifierFeatures(load_model(entry(name).path(), "classifiers", name))
    raise ModelError(
        f"FID and KID need a network that knows the domain '{domain.name}', and the zoo has none",
        "train a classifier and name it under references in the domain file",
    )


def _inception_weights() -> Path:
    return Path(torch.hub.get_dir()) / "checkpoints" / INCEPTION
