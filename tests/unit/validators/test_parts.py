"""The numbers a judge is made of, on values that can be checked with a pencil."""

import math

import pytest
import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.validators.panel import Panel, Sight
from foible.validators.parts import Closeness, Head, Weighing, logit
from foible.validators.scored import CHUNK, Percentile, Scored


def test_percentile_is_the_share_of_real_images_that_look_stranger():
    usual = Percentile(torch.tensor([1.0, 2.0, 3.0]))
    assert usual(torch.tensor([0.0, 1.5, 9.0])).tolist() == [0.25, 0.5, 1.0]


def test_percentile_is_thinned_out_evenly():
    usual = Percentile.of(torch.arange(10_001.0).flip(0), points=101)
    assert len(usual.ranked) == 101 and usual.ranked[0] == 0 and usual.ranked[-1] == 10_000
    assert usual(torch.tensor([5000.5])).item() == pytest.approx(0.5, abs=0.01)


def test_closeness_is_minus_the_distance_to_the_nearest_class():
    closeness = Closeness(torch.zeros(2), torch.diag(torch.tensor([1.0, 0.5])), torch.tensor([[0.0, 0.0], [10.0, 0.0]]))
    sight = Sight(torch.empty(2, 2), torch.tensor([[3.0, 8.0], [10.0, 2.0]]))
    assert closeness(sight).tolist() == [-5.0, -1.0]


def test_a_head_of_zeros_knows_nothing():
    head = Head(torch.zeros(4, 3), torch.zeros(4), torch.zeros(1, 4), torch.zeros(1))
    assert head(torch.randn(5, 3)).tolist() == [0.5] * 5


def test_parts_are_stored_under_their_name():
    weighing = Weighing(torch.tensor([1.0]), torch.tensor(0.5), torch.ones(1))
    named = weighing.named("weighing alone")
    assert set(named) == {"weighing alone.weights", "weighing alone.bias", "weighing alone.trust"}
    assert Weighing.stored({**named, "other": torch.zeros(1)}, "weighing alone").bias.item() == 0.5
    assert set(weighing.named()) == {"weighing.weights", "weighing.bias", "weighing.trust"}


def test_log_odds_stay_finite():
    assert logit(torch.tensor([0.0, 0.5, 1.0])).tolist() == pytest.approx([-9.2102, 0.0, 9.2102], abs=1e-3)


class Always(Scored):
    name, about, threshold = "always", "image", 0.5

    def score(self, images, labels):
        return images[:, 0, 0, 0]


def test_the_threshold_itself_is_accepted():
    said = Always()(torch.tensor([0.4, 0.5]).view(2, 1, 1, 1), torch.zeros(2, dtype=torch.long))
    assert [v.accepted for (v,) in said] == [False, True]
    assert said[0][0].threshold == 0.5 and said[0][0].about == "image"


def linear(name, scale):
    module = nn.Sequential(nn.Flatten(), nn.Linear(4, 2, bias=False))
    module[1].weight.data = torch.tensor([[1.0, 0, 0, 0], [0, 1.0, 0, 0]]) * scale
    return AdaptedClassifier(name, module, ("a", "b"))


def test_a_panel_votes_with_believable_probabilities():
    image = torch.tensor([1.0, 0.0, 0.5, 0.5]).view(1, 1, 2, 2)
    panel = Panel([linear("one", 1.0), linear("two", 4.0)], torch.tensor([1.0, 4.0]))
    sight = panel(image)
    assert sight.votes[0].tolist() == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e)])
    assert sight.features.tolist() == [[1.0, 0.0, 0.5, 0.5] * 2]
    assert sight.best_two.item() == pytest.approx(1.0)


def test_what_the_panel_sees_does_not_depend_on_neighbours():
    panel = Panel([linear("one", 1.0)])
    images = torch.rand(2 * CHUNK + 3, 1, 2, 2, generator=torch.Generator().manual_seed(0))
    whole = panel(images)
    alone = torch.cat([panel(i[None]).votes for i in images])
    assert torch.equal(whole.votes, alone)


def test_names_in_model_files_do_not_follow_class_names():
    """Judges lie in files under these names: a class may be renamed, they may not."""
    parts = {Closeness: "closeness", Head: "head", Weighing: "weighing"}
    assert {kind: kind.part for kind in parts} == parts

    class Renamed(Weighing):
        pass

    kept = Weighing(torch.ones(2), torch.zeros(()), torch.ones(1)).named()
    assert set(kept) == {"weighing.weights", "weighing.bias", "weighing.trust"}
    assert torch.equal(Renamed.stored(kept).weights, torch.ones(2))
