"""Numbers a reader can check with a pencil."""

import pytest
import torch

from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.adapting.scores import class_columns, class_order, output_kind, to_logits
from foible.errors import RecipeError

HALF = torch.full((1, 1, 2, 2), 0.5)


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({}, 0.5),
        ({"range": (0.0, 255.0)}, 127.5),
        ({"range": (-1.0, 1.0)}, 0.0),
        ({"range": (1.0, 0.0)}, 0.5),
        ({"mean": (0.25,), "std": (0.5,)}, 0.5),
        ({"range": (0.0, 255.0), "mean": (127.5,), "std": (2.0,)}, 0.0),
        ({"range": (0.0, 255.0), "dtype": "uint8"}, 128),
    ],
)
def test_values(settings, value):
    assert Preprocessing(**settings)(HALF).unique().tolist() == [value]


def test_grey_becomes_rgb_and_back():
    three = Preprocessing(channels=3)(HALF)
    assert three.shape == (1, 3, 2, 2)
    assert torch.allclose(Preprocessing(channels=1)(three), HALF)


def test_size_and_layout():
    assert Preprocessing(size=(4, 6))(HALF).shape == (1, 1, 4, 6)
    assert Preprocessing(size=(4, 6), channels=3, layout="nhwc")(HALF).shape == (1, 4, 6, 3)


def test_gradients_pass():
    images = HALF.clone().requires_grad_()
    Preprocessing(size=(4, 4), channels=3, range=(-1.0, 1.0))(images).sum().backward()
    assert images.grad is not None and float(images.grad.abs().sum()) > 0


@pytest.mark.parametrize("settings", [{"std": (0.0,)}, {"range": (1.0, 1.0)}, {"mean": (0.0, 0.0), "std": (1.0,) * 3}])
def test_nonsense_is_refused(settings):
    with pytest.raises(RecipeError):
        Preprocessing(**settings)


def test_output_kinds():
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]])
    assert output_kind(logits) == "logits"
    assert output_kind(logits.softmax(1)) == "probabilities"
    assert output_kind(logits.log_softmax(1)) == "log-probabilities"
    for kind, scores in (("probabilities", logits.softmax(1)), ("log-probabilities", logits.log_softmax(1))):
        assert torch.allclose(to_logits(scores, kind).softmax(1), logits.softmax(1))


def test_columns_by_name():
    assert class_columns("m", ("a", "b"), ("a", "b")) is None
    assert class_columns("m", ("b", "x", "a"), ("a", "b")) == (2, 0)
    with pytest.raises(RecipeError, match="does not name the classes c"):
        class_columns("m", ("a", "b"), ("a", "c"))


def test_class_order_is_found():
    labels = torch.arange(3).repeat(4)
    scores = torch.nn.functional.one_hot((labels + 1) % 3, 3).float()  # class 0 is in column 1, and so on
    assert class_order(scores, labels).tolist() == [1, 2, 0]
