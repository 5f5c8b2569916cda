import pytest
import torch

from foible.training.regression import head_for, nonnegative, places_of_classes, probe, temperatures_for, typical_shapes
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
    good, bad = (t + torch.randn(500, generator=rng) * 0.3 for t in (1.0, 0.0))
    tables = [torch.stack([t, -t + torch.randn(500, generator=rng) * 0.1, t], 1) for t in (good, bad)]
    weights, bias = nonnegative(tables, [1.0, 0.0], torch.tensor([True, True, False]))
    assert weights[0] > 1 and weights[1] == 0 and weights[2] == 0, "the third one was not asked"
    assert (good * weights[0] + bias > 0).float().mean() > 0.9 > 0.1 > (bad * weights[0] + bias > 0).float().mean()


def test_typical_shapes_lie_among_those_they_stand_for(rng):
    labels = torch.arange(400) % 2
    outlines = torch.rand(400, 6, generator=rng) * 0.1 + labels[:, None]
    shapes = typical_shapes(outlines, labels, kept=3, each=5, upright=False, seed=0)
    assert shapes.typical.shape == (10, 3) and shapes.directions.shape == (6, 3)
    places = (outlines - shapes.middle) @ shapes.directions
    assert torch.cdist(places, shapes.typical).amin(1).max() < 0.2


def test_a_probe_finds_the_classes(rng):
    truth = torch.arange(300) % 3
    features = torch.nn.functional.one_hot(truth, 3) * 4.0 + torch.randn(300, 3, generator=rng)
    weights, bias = probe(features, truth)
    assert ((features @ weights.T + bias).argmax(1) == truth).float().mean() > 0.9
