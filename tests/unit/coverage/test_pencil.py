"""Each criterion and each of its edge cases, small enough to check with a pencil."""

import math

import pytest
import torch

from foible.coverage import Scope, fitted, read
from foible.registry import build
from tests.unit.coverage.conftest import make


def covered(name, profile, rows, **settings):
    """Numbers of the obligations covered by rows, one batch."""
    seen = build("coverage", name, {"profile": profile, **settings})
    seen.absorb(make(rows, scope=profile.scope))
    return seen, seen.obligations().covered.tolist()


class TestNC:
    def test_scaled_within_the_layer_of_each_input(self, profiled):
        # (0, 5, 10) scales to (0, 0.5, 1): only what exceeds 0.5 counts; the second input has another range
        seen, hit = covered("nc", profiled([[0, 1, 2]]), [[0, 5, 10]])
        assert hit == [2] and seen.value() == pytest.approx(1 / 3)
        assert covered("nc", profiled([[0, 1, 2]]), [[0, 5, 10], [100, 101, 100]])[1] == [1, 2]

    def test_a_constant_layer_covers_nothing(self, profiled):
        assert covered("nc", profiled([[0, 1]]), [[7, 7]], threshold=0.0)[1] == []

    def test_the_extremes_are_those_of_the_map_and_not_of_its_means(self):
        # maps [0, 8] and [2, 2]: means 4 and 2, layer from 0 to 8: scaled means 0.5 and 0.25
        maps = torch.tensor([[[[0.0, 8.0]], [[2.0, 2.0]]]])
        scope = Scope(("a",), (2,))
        batch = read({"a": maps}, scope)
        profile = fitted([batch])
        for compat, hit in {"none": [0], "deepxplore": [0], "deephunter": [0], "nlc": [0]}.items():
            seen = build("coverage", "nc", {"profile": profile, "threshold": 0.3, "compat": compat})
            seen.absorb(batch)
            assert seen.obligations().covered.tolist() == hit
        assert seen.state["farthest"].tolist() == [1.0, 0.0]  # nlc scales the means
        ours = build("coverage", "nc", {"profile": profile})
        ours.absorb(batch)
        assert ours.state["farthest"].tolist() == [0.5, 0.25]
        raw = build("coverage", "nc", {"profile": profile, "threshold": 3.0, "compat": "dnn-tip"})
        raw.absorb(batch)
        assert raw.obligations().covered.tolist() == [0]

    def test_any_threshold_can_be_read_afterwards(self, profiled):
        profile = profiled([[0, 1, 2]])
        seen = build("coverage", "nc", {"profile": profile, "threshold": 0.9})
        seen.absorb(make([[0, 5, 10]], scope=profile.scope))
        assert build("coverage", "nc", {"profile": profile, "threshold": 0.4}).value(seen.state) == pytest.approx(2 / 3)


EDGES = {  # value: the section that each tool gives it
    "none": {0: [0], 1: [1], 1.5: [1], 4: [3], -0.1: [], 4.1: []},
    "dnn-tip": {0: [0], 1: [1], 1.5: [1], 4: [], -0.1: [], 4.1: []},
    "nlc": {0: [], 1: [0], 1.5: [1], 4: [3], -0.1: [], 4.1: []},
    "deephunter": {0: [0], 1: [1], 1.5: [1], 4: [3], -0.1: [], 4.1: []},
}


class TestKMNC:
    """A unit from 0 to 4 in 4 sections; another that is constant."""

    @pytest.mark.parametrize("compat", EDGES)
    def test_edges(self, profiled, compat):
        profile = profiled([[0, 7], [4, 7]])
        for value, sections in EDGES[compat].items():
            _, hit = covered("kmnc", profile, [[value, 7]], k=4, compat=compat)
            assert hit == sections, value

    def test_constant_units_are_counted_apart_but_not_by_others(self, profiled):
        profile = profiled([[0, 7], [4, 7]])
        seen, _ = covered("kmnc", profile, [[0, 7], [1, 7]], k=4)
        assert seen.value() == 2 / 4 and seen.obligations().constant.tolist() == [4, 5, 6, 7]
        assert covered("kmnc", profile, [[0, 7], [1, 7]], k=4, compat="deephunter")[0].value() == 2 / 8

    def test_the_nearest_open_section_below_or_above_is_aimed_at(self, profiled):
        profile = profiled([[0], [4]])
        seen, _ = covered("kmnc", profile, [[1.5], [2.5]], k=4)  # open: 0 and 3
        aims = seen.aim(make([[1.4], [2.9], [9.0], [-9.0]], scope=profile.scope))
        assert aims.flatten().tolist() == [0, 3, 3, 0]


class TestBoundary:
    def test_corners_lie_strictly_beyond_the_range(self, profiled):
        profile = profiled([[0], [4]])  # standard deviation 2
        assert covered("nbc", profile, [[0], [4]])[1] == []
        assert covered("nbc", profile, [[-0.1]])[1] == [0]
        assert covered("nbc", profile, [[-0.1], [4.1]])[0].value() == 1.0
        assert covered("nbc", profile, [[-1.9], [6.1]], multiplier=1.0)[1] == [1]
        assert covered("snac", profile, [[-9], [4.1]])[0].value() == 1.0

    def test_others_take_the_edge_in(self, profiled):
        assert covered("nbc", profiled([[0], [4]]), [[0], [4]], compat="dnn-tip")[1] == [0, 1]
        assert covered("nbc", profiled([[0], [4]]), [[0], [4]], compat="nlc")[1] == []

    def test_corners_that_a_layer_cannot_reach_are_no_misses(self, profiled):
        facts = {"where": "post", "bounds": ((0.0, math.inf),)}
        seen, hit = covered("nbc", profiled([[0], [4]], **facts), [[5]])
        assert hit == [1] and seen.value() == 1.0 and seen.obligations().infeasible.tolist() == [0]
        softmax = {"where": "post", "bounds": ((0.0, 1.0),)}
        seen, _ = covered("nbc", profiled([[0.2], [1.0]], **softmax), [[0.1]])
        assert seen.value() == 1.0 and seen.obligations().infeasible.tolist() == [1]

    def test_deephunters_slices_are_shared_by_both_sides(self, profiled):
        profile = profiled([[0], [1000]])  # slices of width 1
        for value, slice_ in {-0.5: 0, 1000.5: 0, 1002.5: 2, -2.5: 2, 1099: 10}.items():
            assert covered("nbc-slices", profile, [[value]], k=10)[1] == [slice_], value
        assert covered("nbc-slices", profile, [[1000.5]], k=10)[0].value() == pytest.approx(1 / 22)
        assert covered("snac-slices", profile, [[-0.5]], k=10)[1] == []
        assert covered("snac-slices", profiled([[3], [3]]), [[3.06]], k=10)[1] == [1]  # 0.05 without a range


class TestRanks:
    def test_the_k_largest_and_smallest(self, profiled):
        profile = profiled([[0, 0, 0, 0], [1, 1, 1, 1]])
        assert covered("tknc", profile, [[3, 1, 2, 0]], k=2)[1] == [0, 2]
        assert covered("bknc", profile, [[3, 1, 2, 0]], k=2)[1] == [1, 3]

    def test_of_equal_values_the_lowest_number_wins(self, profiled):
        profile = profiled([[0, 0, 0, 0], [1, 1, 1, 1]])
        assert covered("tknc", profile, [[0, 5, 5, 5]], k=2)[1] == [1, 2]
        assert covered("bknc", profile, [[0, 0, 0, 5]], k=1)[1] == [0]

    def test_narrow_layers_are_covered_at_once_or_left_out(self, profiled):
        profile = profiled([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], (2, 3))
        assert covered("tknc", profile, [[1, 2, 3, 1, 2]], k=2)[0].per_layer().tolist() == pytest.approx([1.0, 2 / 3])
        seen, hit = covered("tknc", profile, [[1, 2, 3, 1, 2]], k=2, wide_only=True)
        assert hit == [2, 4] and seen.value() == pytest.approx(2 / 3) and math.isnan(seen.per_layer()[0])

    def test_deephunter_counts_units_and_ranks(self, profiled):
        profile = profiled([[0, 0, 0], [1, 1, 1]])
        seen, hit = covered("tknc", profile, [[3, 1, 2]], k=2, compat="deephunter")
        assert hit == [0, 5] and seen.value() == pytest.approx(2 / 6)  # unit 0 is first, unit 2 second

    def test_patterns_are_sets_over_all_layers(self, profiled):
        profile = profiled([[0] * 6, [1] * 6], (3, 3))
        rows = [[3, 2, 1, 9, 8, 7], [2, 3, 1, 8, 9, 7], [3, 1, 2, 9, 8, 7], [3, 2, 1, 9, 7, 8]]
        assert covered("tknp", profile, rows, k=2)[0].value() == 3
        assert covered("tknp", profile, rows, k=2, compat="nlc")[0].value() == 4


class TestChanges:
    """Two condition units and one decision unit; every standard deviation is 1."""

    @pytest.fixture
    def profile(self, profiled):
        return profiled([[-1, -1, -1], [1, 1, 1]], (2, 1))

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ((1, 1, 1), (-1, 1, -1), {"ss": [0]}),
            ((1, 1, 1), (1, -1, -1), {"ss": [1]}),
            ((1, 1, 1), (-1, -1, -1), {}),  # two conditions change their sign
            ((1, 1, 1), (-1, 1, 1.5), {}),  # the decision's value moves too little
            ((1, 1, 1), (-1, 1, 2.5), {"sv": [0]}),
            ((1, 1, 1), (3, 1, -1), {"vs": [0]}),
            ((1, 1, 1), (3, 1, 3), {"vv": [0]}),
            ((1, 1, 1), (3, 3, 3), {"vv": [0, 1]}),
            ((1, 1, 1), (2, 1, 3), {}),  # exactly one standard deviation is not beyond it
            ((0, 1, 1), (1, 1, -1), {"ss": [0]}),  # 0 is not above 0
        ],
    )
    def test_table(self, profile, one, other, expected):
        for name in ("ss", "sv", "vs", "vv"):
            assert covered(name, profile, [one, other])[1] == expected.get(name, []), name
            assert covered(name, profile, [other, one])[1] == expected.get(name, []), name

    def test_one_input_alone_covers_nothing(self, profile):
        assert covered("vv", profile, [[1, 1, 1]])[0].value() == 0

    def test_relaxed_lets_more_conditions_change(self, profile):
        assert covered("ss", profile, [[1, 1, 1], [-1, -1, -1]], relaxed=1.0)[1] == [0, 1]

    def test_all_pairs_of_three_layers(self, profiled):
        profile = profiled([[-1] * 4, [1] * 4], (1, 2, 1))
        seen, hit = covered("ss", profile, [[1, 1, 1, 1], [-1, -1, 1, -1]])
        assert hit == [0, 2]  # a[0] decides b[0]; b[0] decides c[0]
        assert [seen.describe(n) for n in hit] == ["a[0] decides b[0]", "b[0] decides c[0]"]
        assert seen.per_layer().tolist()[1:] == [0.5, 0.5]


TRACES = [[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [4.0, 1.0]]


class TestSurprise:
    def profile(self, rows=None, predicted=(0, 0, 1, 1)):
        rows = TRACES if rows is None else rows
        return fitted([make(rows, predicted=predicted, classes=2)])

    def score(self, name, rows, predicted, profile=None, **settings):
        profile = profile or self.profile()
        seen = build("coverage", name, {"profile": profile, "lower": 0.0, "upper": 10.0, "buckets": 10, **settings})
        return seen, seen.of(make(rows, scope=profile.scope, predicted=predicted))

    def test_dsa_is_measured_from_the_nearest_of_the_class(self):
        # (2, 0) as class 0: nearest is (1, 0), at 1; from there the other class begins at (4, 0), at 3
        assert self.score("dsa", [[2, 0]], [0])[1].tolist() == pytest.approx([1 / 3])
        assert self.score("dsa", [[2, 0]], [0], compat="nlc")[1].tolist() == pytest.approx([1 / 2])
        assert self.score("dsa", [[2, 0]], [1])[1].tolist() == pytest.approx([2 / 3])

    def test_a_trace_that_two_classes_share_is_infinitely_surprising_and_in_no_bucket(self):
        shared = self.profile([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [4.0, 1.0]])
        seen, score = self.score("dsa", [[2, 0]], [0], shared)
        assert score.tolist() == [math.inf]
        seen.absorb(make([[2, 0]], scope=shared.scope, predicted=[0]))
        assert seen.value() == 0 and seen.state["outside"].tolist() == [0, 0, 1]

    def test_mdsa_is_in_standard_deviations_of_the_class(self):
        rows = [[1.0, 0], [-1, 0], [0, 2], [0, -2], [9, 9], [8, 9], [9, 8], [8, 8]]
        profile = self.profile(rows, [0] * 4 + [1] * 4)  # class 0: variances 1/2 and 2
        assert self.score("mdsa", [[3, 0], [0, 3]], [0, 0], profile)[1].tolist() == pytest.approx(
            [3 / math.sqrt(0.5), 3 / math.sqrt(2)], rel=1e-4
        )

    def test_the_bounds_of_mdsa_come_from_traces_that_are_new_to_it(self):
        """With fewer traces than values everything known is near: bounds from them would leave every new input outside."""
        rows = torch.randn(40, 30, generator=torch.Generator().manual_seed(0))
        profile = self.profile(rows[:20], [0] * 10 + [1] * 10)
        seen = build("coverage", "mdsa", {"profile": profile})
        seen.absorb(make(rows[20:], scope=profile.scope, predicted=[0] * 10 + [1] * 10))
        assert seen.value() > 0 and int(seen.state["outside"].sum()) < 10

    def test_buckets_leave_out_the_lower_edge_and_report_what_is_outside(self):
        seen, _ = self.score("dsa", [[2, 0]], [0])
        assert seen._bucket(torch.tensor([0.0, 0.1, 1.0, 1.1, 10.0, 10.1])).tolist() == [10, 0, 0, 1, 9, 10]
        other, _ = self.score("dsa", [[2, 0]], [0], compat="dnn-tip")
        assert other._bucket(torch.tensor([0.0, 0.1, 1.0, 1.1, 10.0, 10.1]).double()).tolist() == [0, 0, 1, 1, 10, 10]


class TestSpread:
    def test_nlc_is_the_mean_absolute_covariance(self, profiled):
        profile = profiled([[0.0, 0, 0]], (2, 1))
        rows = [[0, 0, 1], [2, -2, 3]]  # variances 1, 1, covariance -1; and variance 1
        seen = build("coverage", "nlc", {"profile": profile})
        seen.absorb(make(rows, scope=profile.scope))
        assert seen.per_layer().tolist() == [1.0, 1.0] and seen.value() == 2.0
        seen.absorb(make(rows, scope=profile.scope))  # the same again: the same distribution
        assert seen.value() == 2.0

    def test_the_greedy_one_starts_at_one_and_refuses_what_lowers_it(self, profiled):
        profile = profiled([[0.0]])
        seen = build("coverage", "nlc-greedy", {"profile": profile})
        seen.absorb(make([[0], [2]], scope=profile.scope))
        assert seen.value() == 2.0
        seen.absorb(make([[1], [1]], scope=profile.scope))
        assert seen.value() == 2.0 and float(seen.state["total.0"]) == 2  # its inputs are not even counted
        seen.absorb(make([[0], [4]], scope=profile.scope))  # 0, 2, 0, 4: variance 2.75
        assert seen.value() == pytest.approx(3.75)
