from importlib.util import find_spec

import numpy as np
import pytest
import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.domains import Domain
from foible.errors import DataError, ModelError
from foible.training.features import ClassifierFeatures, features_for
from foible.training.realism import feature_distance, realism

pytestmark = pytest.mark.skipif(find_spec("torchmetrics") is None, reason="needs the extra training")


@pytest.fixture
def features():
    """Features that are the image's first four pixels, so that FID can be computed by hand."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    return ClassifierFeatures(AdaptedClassifier("tiny", network, ("a", "b", "c")))


def batches(mean, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return [(0.1 * torch.randn(100, 1, 2, 2, generator=rng) + mean) for _ in range(4)]


def test_fid_of_shifted_gaussians_is_the_squared_distance_of_means(features):
    found = realism(batches(0.2), batches(0.7), features)
    assert found.fid == pytest.approx(4 * 0.5**2, rel=0.02)
    assert found.kid > 0
    assert (found.real, found.made) == (400, 400)


def test_equal_sets_are_near_zero_and_the_extractor_is_named(features):
    found = realism(batches(0.5, 1), batches(0.5, 2), features)
    assert found.fid < 0.002
    assert abs(found.kid) < 0.002
    assert found.extractor == "last features of tiny"


def test_kid_is_repeatable_and_leaves_global_randomness_alone(features):
    state = torch.get_rng_state()
    first, second = (realism(batches(0.2), batches(0.3), features).kid for _ in range(2))
    assert first == second
    assert torch.equal(state, torch.get_rng_state())


def test_features_are_what_the_last_layer_sees(features):
    images = torch.rand(5, 1, 2, 2)
    assert np.allclose(features(images), images.flatten(1))


def test_a_domain_without_classifiers_has_no_features():
    with pytest.raises(ModelError, match="the zoo has none"):
        features_for(Domain(name="none", shape=(1, 8, 8), classes=("a",)))


def test_features_that_are_there_give_the_same_as_their_images(features):
    real, made = torch.cat(batches(0.2)), torch.cat(batches(0.7, 3))
    expected = realism([real], [made], features)
    with torch.no_grad():
        found = feature_distance(features(real), features(made), features.name)
    assert (found.fid, found.kid) == (pytest.approx(expected.fid, rel=1e-4), pytest.approx(expected.kid, rel=1e-4))
    assert found.extractor == "last features of tiny" and (found.real, found.made) == (400, 400)
    with pytest.raises(DataError, match="one extractor"):
        feature_distance(torch.zeros(4, 3), torch.zeros(4, 2), "x")
