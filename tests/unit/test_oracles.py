"""What counts as a difference of two classifiers."""

import pytest
import torch

from foible.errors import RecipeError
from foible.oracles.apart import Apart, gap
from foible.oracles.oriented import Oriented
from foible.types import Evaluation


def asked(tested, rival, labels=(0, 0, 0)):
    rows = torch.zeros(len(labels), 3)
    said = {"tested": torch.tensor(tested), "rival": torch.tensor(rival)}
    return Evaluation(rows, rows, rows, torch.tensor(labels), torch.full((len(labels),), -1), said)


def test_outputs_apart_by_more_than_a_tolerance():
    tested = torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]]).log().tolist()
    rival = torch.tensor([[0.8, 0.2], [0.5, 0.5], [0.6, 0.4]]).log().tolist()
    assert gap(torch.tensor(tested), torch.tensor(rival)).tolist() == pytest.approx([0.1, 0.2, 0], abs=1e-6)
    assert Apart(0.15)(asked(tested, rival)).tolist() == [False, True, False]
    assert Apart(0, of="scores")(asked([[1.0, 0.0]] * 3, [[1.0, 0.0], [1.0, 0.5], [2.0, 1.0]])).tolist() == [
        False,
        True,
        True,
    ]


def test_one_is_right_and_the_other_wrong():
    tested = [[2.0, 1.0], [2.0, 1.0], [0.0, 1.0]]
    rival = [[0.0, 1.0], [1.0, 1.0], [3.0, 1.0]]
    assert Oriented()(asked(tested, rival)).tolist() == [True, False, False], "a tie is right"
    assert Oriented(right="rival")(asked(tested, rival)).tolist() == [False, False, True]


@pytest.mark.parametrize(
    "make",
    [lambda: Apart(of="logits"), lambda: Apart(-1), lambda: Apart(1), lambda: Oriented(right="both")],
)
def test_nonsense_is_refused(make):
    with pytest.raises(RecipeError):
        make()
