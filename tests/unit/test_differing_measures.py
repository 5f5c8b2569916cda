"""What is measured of disagreements, with numbers a pencil can check."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from foible.differing.answers import Answers
from foible.differing.filters import sieve
from foible.differing.growth import Growth, fewest_queries, growth_of_sample
from foible.differing.parity import parity
from foible.differing.reuse import reuse
from foible.differing.selection import selection, worth_asking
from foible.differing.selector import measured_selector
from foible.differing.several import counted
from foible.differing.variety import variety
from foible.errors import DataError, RecipeError
from foible.records import Verdict
from foible.testing.toys import ToyClassifier


def answers(*rows, images=None):
    """Rows of (A's answer, B's, expected)."""
    a, b, expected = torch.tensor(rows, dtype=torch.long).view(-1, 3).T
    return Answers(a, b, torch.full((len(a),), 0.25, dtype=torch.float64), expected, images)


def greys(*levels):
    return torch.stack([torch.full((1, 2, 2), level) for level in levels])


def test_flips_and_gaps_by_class():
    said = answers((0, 0, 0), (0, 1, 0), (2, 2, 2))
    assert [(d.label, d.images, d.flips, d.largest_gap) for d in said.by_class()] == [(0, 2, 1, 0.25), (2, 1, 0, 0.25)]


def test_variety_counts_copies_once():
    """Three greys 0.5 apart, one of them twice, one of them nearly again (0.01 away)."""
    images = greys(0.0, 0.5, 1.0, 0.5, 0.51)
    seen = variety(images, answers((0, 1, 0), (0, 1, 0), (1, 0, 0), (1, 0, 0), (0, 2, 0)), published=True)
    assert (seen.images, seen.exact, seen.near) == (5, 4, 3)
    assert seen.pairs.distinct == 3 and seen.pairs.largest_share == 0.4
    assert seen.neighbours.smallest == 0 and seen.neighbours.largest == pytest.approx(0.5, abs=0.011)
    assert seen.figures["log_volume"] is None, "five images of one colour each span a line: minus infinity"
    assert seen.published.geometric == 0, "which the published measure calls 0"


def test_growth_counts_distinct_images_where_they_were_asked():
    """Images 2, 4 and 5 of six disagree; the second of these is a copy. Two queries for each image."""
    images = greys(0.2, 0.2, 0.9)
    rows = [(0, int(k in (1, 3, 4)), 0) for k in range(6)]
    curve = growth_of_sample(answers(*rows, images=images), "random")
    assert curve == Growth("random", (4, 10), 12)
    assert [curve.after(q) for q in (3, 4, 9, 10)] == [0, 1, 1, 2]
    assert fewest_queries([curve, Growth("x", (), 8)]) == 8


def test_who_wins_by_region_with_intervals():
    rows = [(4, 9, 4)] * 8 + [(9, 4, 4)] * 1 + [(9, 4, 7)] * 1 + [(1, 7, -1)] * 3 + [(5, 5, 5)]
    seen = selection(answers(*rows))
    assert (seen.overall.a, seen.overall.b, seen.overall.neither, seen.overall.disagreements) == (8, 1, 1, 13)
    first, second = seen.regions
    assert first.place == (4, 9) and (first.a, first.b) == (8, 1) and first.better == "A"
    assert second.place == (1, 7) and second.rate.share is None and second.better is None
    assert [w.place for w in seen.classes] == [4, 7]


def test_images_from_one_origin_are_no_independent_evidence():
    """Eight wins of A in eight are clear from eight origins (68 % and more), and not from three (44 % and more)."""
    said = answers(*[(4, 9, 4)] * 8)
    alone, shared = selection(said).overall, selection(replace(said, origins=torch.arange(8) % 3)).overall
    assert alone.better == "A" and alone.origins == 8 and alone.rate.low == pytest.approx(0.676, abs=1e-3)
    assert shared.better is None and shared.origins == 3 and shared.rate.low == pytest.approx(0.438, abs=1e-3)
    assert shared.rate.share == 1 and shared.rate.total == 8


def test_people_are_asked_where_an_answer_pays_most():
    """Ten of "1 or 7" and two of "3 or 5", nothing known: the larger region first, and the small one once it is worth it."""
    rows = [(1, 7, -1)] * 10 + [(3, 5, -1)] * 2
    order = worth_asking(answers(*rows), 12)
    assert order[0] == 0 and sorted(order) == list(range(12))
    decided = [(1, 7, 1)] * 60 + [(1, 7, -1)] * 5 + [(3, 5, -1)] * 40
    assert worth_asking(answers(*decided), 1) == [65], "the first region is decided already"
    assert worth_asking(answers((4, 9, 4)), 5) == []


def test_a_selector_is_measured_beside_what_costs_nothing():
    """B is right on bright images only, and one image in three is bright: always A is right on two thirds, balanced one half."""
    rng = np.random.default_rng(0)
    bright = np.arange(90) % 3 == 0
    features = torch.from_numpy(rng.normal(bright[:, None] * 4.0, 1, (90, 3))).float()
    said = answers(*[(0, 1, int(b)) for b in bright])
    same = torch.full((90,), 0.5)
    made = measured_selector(features, "brightness", said, same, same)
    forest, always, confident = made.choices
    assert (made.only_a, made.only_b) == (60, 30)
    assert always.accuracy.count == 60 and always.balanced == 0.5 and confident.balanced == 0.5
    assert forest.accuracy.count > 80 and forest.balanced > 0.9
    with pytest.raises(DataError, match="only A"):
        measured_selector(features[:5], "x", answers(*[(0, 1, 0)] * 5), same[:5], same[:5])


class Constant:
    """A model that always names one class."""

    def __init__(self, name, label):
        self.name, self.label = name, label

    def __call__(self, images):
        return torch.nn.functional.one_hot(torch.full((len(images),), self.label), 3).float()


def test_a_model_that_makes_the_same_mistakes_is_derived():
    images, wrong = torch.zeros(20, 1, 2, 2), torch.ones(20, dtype=torch.long)
    seen = reuse(images, wrong, Constant("copy", 1), [Constant("x", 0), Constant("y", 2)])
    assert seen.derived and seen.p == pytest.approx(1 / 3) and seen.b.shared.count == 20
    apart = reuse(images, wrong, Constant("other", 0), [Constant("x", 1)])
    assert not apart.derived and apart.p == 1
    with pytest.raises(RecipeError, match="unrelated"):
        reuse(images, wrong, Constant("copy", 1), [])


class Drifting(ToyClassifier):
    """Adds a millionth for every image in the batch."""

    def __call__(self, images):
        return super().__call__(images) + 1e-3 * len(images)


def test_drift_by_batch_size():
    images = torch.rand(10, 1, 6, 6, generator=torch.Generator().manual_seed(0))
    seen = parity([ToyClassifier("a"), Drifting("b")], images, sizes=(5, 1))
    rows = {(r.model, r.batch): r for r in seen.rows}
    assert rows["a", 5].exact == rows["a", 1].exact == 10 and rows["a", 1].flips == 0
    assert rows["b", 5].largest == pytest.approx(5e-3, abs=1e-5) and rows["b", 1].largest == pytest.approx(
        1e-3, abs=1e-5
    )
    assert seen.unsteady == () and seen.largest("b") == rows["b", 5].largest
    assert seen.figures["drift_flips"] == 0
    with pytest.raises(RecipeError):
        parity([], images)


def test_every_two_models_are_compared_and_who_stands_alone():
    said = torch.tensor([[0, 1, 2, 2], [0, 1, 1, 2], [0, 2, 2, 0]])
    seen = counted(("a", "b", "c"), said)
    assert seen.pairs.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    assert seen.divided == 3 and seen.alone.tolist() == [0, 1, 2]


class Bright:
    """Accepts images above a level."""

    def __init__(self, name, level):
        self.name, self.level = name, level

    def __call__(self, images, labels):
        return [
            (Verdict(self.name, bool(i.mean() > self.level), 0.5), Verdict(self.name, False, 0.0, "label"))
            for i in images
        ]


def test_filters_are_counted_one_after_the_other_and_alone():
    images = greys(0.1, 0.4, 0.6, 0.9)
    first, second = sieve(images, torch.zeros(4).long(), [Bright("half", 0.5), Bright("third", 0.3)])
    assert (first.before, first.after, first.alone) == (4, 2, 2)
    assert (second.before, second.after, second.alone) == (2, 2, 3)
