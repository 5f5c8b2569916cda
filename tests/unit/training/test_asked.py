"""Weights drawn to people's answers: what they may change, and what they may not."""

import numpy as np
import pytest
import torch

from foible.domains import load_domain
from foible.errors import DataError
from foible.judging.refit import UNKNOWN
from foible.training.asked import Asked, drawn, people_asked, read_answers
from foible.training.weigh import with_line
from foible.validators.evidence import Evidence
from foible.validators.parts import Weighing

NOBODY = np.array(["a"] * 3)


def evidence(table):
    return Evidence(table, torch.zeros(len(table), 1, 10), torch.zeros(len(table), 1, dtype=torch.long))


def test_what_two_people_are_divided_about_is_unknown():
    said = torch.tensor([[5, 5], [5, -1], [-1, -1]])
    asked = Asked(torch.zeros(3, 1, 4, 4), torch.tensor([5, 5, 5]), NOBODY, said)
    answered = asked.answered(evidence(torch.zeros(3, 2)))
    assert answered.valid.tolist() == [1, UNKNOWN, 0] and answered.kept.tolist() == [1, UNKNOWN, 0]
    assert answered.named.tolist() == [5, UNKNOWN, UNKNOWN]
    other = Asked(torch.zeros(1, 1, 4, 4), torch.tensor([5]), NOBODY[:1], torch.tensor([[3, 6]]))
    answered = other.answered(evidence(torch.zeros(1, 2)))
    assert (answered.valid.item(), answered.kept.item(), answered.named.item()) == (1, 0, UNKNOWN)


def test_drawn_weights_are_as_loud_as_before_and_unused_evidence_stays_unused():
    table = torch.randn(300, 3, generator=torch.Generator().manual_seed(0))
    valid = table[:, 1] > 0
    said = torch.where(valid, 5, -1)[:, None].expand(-1, 2)
    asked = Asked(torch.zeros(300, 1, 4, 4), torch.full((300,), 5), np.array(["a"] * 300), said)
    start = Weighing(torch.tensor([1.0, 0.5, 0.0]), torch.tensor(3.0), torch.tensor([0.5]))
    found = drawn(start, asked.answered(evidence(torch.cat([table[:, :2], table[:, 1:2]], 1))))
    assert found.weights.sum().item() == pytest.approx(1.5) and found.weights[2] == 0
    assert found.weights[1] > 2 * found.weights[0], "people look at the second"
    assert found.trust.tolist() == [0.5]


def test_the_line_turns_its_share_of_real_images_away():
    real = torch.randn(1000, 2, generator=torch.Generator().manual_seed(0))
    weighing = with_line(Weighing(torch.tensor([1.0, 2.0]), torch.tensor(7.0), torch.ones(1)), real, 0.02)
    assert (weighing.validity(real) < 0.5).float().mean().item() == pytest.approx(0.02, abs=0.001)


def test_answers_are_read_from_a_file(tmp_path):
    path, digits = tmp_path / "answers.npz", load_domain("mnist")
    some = {"images": np.zeros((2, 28, 28, 1), np.uint8), "expected": np.array([5, 5]), "tool": np.array(["a", "b"])}
    np.savez(path, **some, human1=np.array([5, -1]), human2=np.array([3, -1]))
    asked = read_answers(path, digits)
    assert asked.images.shape == (2, 1, 28, 28) and asked.said.tolist() == [[5, 3], [-1, -1]]
    np.savez(path, **some)
    with pytest.raises(DataError, match="holds no answers"):
        read_answers(path, digits)
    with pytest.raises(DataError, match="no 'people/nowhere"):
        people_asked(digits, "people/nowhere.npz")


def test_drawn_weights_share_no_memory_with_those_before():
    start = Weighing(torch.tensor([1.0, 0.5]), torch.tensor(3.0), torch.tensor([0.5]))
    asked = Asked(torch.zeros(2, 1, 4, 4), torch.tensor([5, 5]), NOBODY[:2], torch.tensor([[5, 5], [-1, -1]]))
    found = drawn(start, asked.answered(evidence(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))))
    shared = {t.data_ptr() for t in start.named().values()} & {t.data_ptr() for t in found.named().values()}
    assert not shared, "both go into one model file, which may hold no tensor twice"
