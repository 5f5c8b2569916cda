"""Which layers are measured, and what is said where that cannot be found out."""

import math

import pytest
import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.scopes import scope_of
from foible.errors import ModelError

PROBE = torch.rand(2, 1, 6, 6)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.act = nn.ReLU(inplace=True)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.Hardtanh(-2, 2), nn.Linear(5, 3))

    def forward(self, x):
        return self.head(self.act(self.norm(self.conv(x))))


def classifier():
    return AdaptedClassifier("net", Net(), ("a", "b", "c"))


def test_before_the_activation_is_behind_the_normalisation():
    scope = scope_of(classifier(), PROBE)
    assert scope.layers == ("norm", "head.1", "head.3") and scope.widths == (4, 5, 3) and scope.classes == 3
    assert all(b == (-math.inf, math.inf) for b in scope.bounds)


def test_after_the_activation_bounds_are_known():
    scope = scope_of(classifier(), PROBE, where="post")
    assert scope.layers == ("act", "head.2") and scope.bounds == ((0.0, math.inf), (-2.0, 2.0))
    assert scope_of(classifier(), PROBE, where="post", unit="element").widths == (64, 5)


def test_work_in_place_does_not_spoil_what_was_before():
    with torch.no_grad():
        _, seen = classifier().inspect(PROBE, ("norm", "act"))
    assert (seen["norm"] < 0).any() and (seen["act"] >= 0).all()


def test_layers_can_be_named_and_wrong_names_are_refused():
    assert scope_of(classifier(), PROBE, ("head.1",)).widths == (5,)
    with pytest.raises(ModelError, match=r"no layer 'head\.9'"):
        scope_of(classifier(), PROBE, ("head.9",))


def test_a_model_without_activations_is_refused():
    class Box:
        name = "box"

        def __call__(self, images):
            return images.flatten(1)[:, :3]

    class Hidden(Box):
        def layers(self):
            return ()

        def inspect(self, images, layers):
            raise AssertionError("there is nothing to see")

    for model in (Box(), Hidden()):
        with pytest.raises(ModelError, match="'box' lends no activations"):
            scope_of(model, PROBE)


def test_layers_of_no_known_kind_have_to_be_named():
    class Closed:
        name = "closed"

        def layers(self):
            return ("one", "two")

        def inspect(self, images, layers):
            return torch.zeros(len(images), 3), {name: torch.zeros(len(images), 7) for name in layers}

    with pytest.raises(ModelError, match="do not say what they are") as caught:
        scope_of(Closed(), PROBE)
    assert "--layers one,two" in caught.value.hint
    assert scope_of(Closed(), PROBE, ("two",)).widths == (7,)
    flat = AdaptedClassifier("flat", nn.Sequential(nn.Flatten(), nn.Linear(36, 3)), ("a", "b", "c"))
    with pytest.raises(ModelError, match="no activation functions"):
        scope_of(flat, PROBE, where="post")
