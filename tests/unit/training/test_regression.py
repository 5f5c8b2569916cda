import pytest
import torch

from foible.training.regression import head_for, places_of_classes, temperatures_for, weights_for
from foible.validators.panel import Sight


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(0)


def test_temperature_undoes_what_logits_were_multiplied_by(rng):
    odds = torch.randn(4000, 3, generator=rng)
    labels = torch.multinomial(odds.softmax(1), 1, generator=rng)[:, 0]
    found = temperatures_for(torch.stack([odds * 5, odds * 0.5], 1), labels)
    assert found.tolist() == pytest.approx([5.0, 0.5], rel=0.1)


def test_classes_are_placed_with_spread_one(rng):
    labels = torch.arange(600) % 2
    features = torch.randn(600, 3, generator=rng) * torch.tensor([5.0, 1.0, 0.1]) + labels[:, None] * 20
    closeness = places_of_classes(features, labels, 2, kept=3)
    within = closeness.place(features) - closeness.centres[labels]
    assert within.std(0).tolist() == pytest.approx([1, 1, 1], abs=0.05)
    near, far = closeness(Sight(features, features)).mean(), closeness(Sight(features, features + 50)).mean()
    assert near > -2.5 > far


def test_the_head_learns_a_ring(rng):
    places = torch.randn(2000, 2, generator=rng) * 2
    valid = (places.norm(dim=1) < 2).float()
    head = head_for(places, valid, hidden=16, seed=0)
    assert ((head(places) > 0.5).float() == valid).float().mean() > 0.93


def test_evidence_never_speaks_against_itself(rng):
    truth = (torch.arange(1000) % 2).float()
    good = truth + torch.randn(1000, generator=rng) * 0.3
    weights, bias = weights_for(torch.stack([good, -good + torch.randn(1000, generator=rng) * 0.1], 1), truth)
    assert weights[0] > 1 and weights[1] == 0
    assert ((good * weights[0] + bias > 0).float() == truth).float().mean() > 0.9
