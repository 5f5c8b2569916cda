"""Our criteria against dnn-tip, scipy, and loops written from the definitions."""

import numpy as np
import pytest
import torch
from scipy.stats import gaussian_kde

from foible.coverage import Scope, fitted, from_values
from foible.registry import build

WIDTHS = (5, 12, 7)
SCOPE = Scope(("a", "b", "c"), WIDTHS, classes=4)


def rows(count, seed, scale=1.0):
    rng = torch.Generator().manual_seed(seed)
    classes = torch.randint(0, 4, (count,), generator=rng)
    values = scale * torch.randn(count, sum(WIDTHS), generator=rng).abs()  # half normal, as after a ReLU
    values[:, 3] = 2.0  # a unit that never varies
    values[values < 0.2] = 0.0
    return from_values(values + 0.5 * classes[:, None] * (values > 0), SCOPE, classes)


TRAIN, TEST = rows(400, 1), rows(60, 2, 1.2)
PROFILE = fitted([TRAIN], keep=10_000)


def layers(batch):
    return [batch.values[:, s].numpy() for s in SCOPE.slices]


def seen(name, **settings):
    criterion = build("coverage", name, {"profile": PROFILE, **settings})
    return criterion, criterion.observe(TEST)


@pytest.fixture(scope="module")
def tip():
    pytest.importorskip("dnn_tip", reason="dnn-tip is a development package")
    from dnn_tip import neuron_coverage

    return neuron_coverage


def per_layer(tensor):
    return [tensor[s].numpy() for s in SCOPE.slices]


class TestAgainstDnnTip:
    def check(self, theirs, name, **settings):
        scores, profiles = theirs(layers(TEST))
        criterion, _ = seen(name, compat="dnn-tip", **settings)
        mine = criterion.obligations().covered.numpy()
        assert np.array_equal(np.flatnonzero(profiles.any(0).reshape(-1)), mine)
        fresh = build("coverage", name, {"profile": PROFILE, "compat": "dnn-tip", **settings})
        assert np.array_equal(fresh.peek(TEST).numpy(), scores)

    @pytest.mark.parametrize("k", [1, 2, 10, 1000])
    def test_kmnc(self, tip, k):
        self.check(tip.KMNC(per_layer(PROFILE.low), per_layer(PROFILE.high), k), "kmnc", k=k)

    @pytest.mark.parametrize("scaler", [0.0, 0.5])
    def test_boundary(self, tip, scaler):
        low, high, spread = (per_layer(t) for t in (PROFILE.low, PROFILE.high, PROFILE.spread))
        self.check(tip.NBC(low, high, spread, scaler), "nbc", multiplier=scaler)
        self.check(tip.SNAC(high, spread, scaler), "snac", multiplier=scaler)

    def test_nac(self, tip):
        self.check(tip.NAC(0.7), "nc", threshold=0.7)

    @pytest.mark.parametrize("k", [1, 3, 9])
    def test_tknc(self, tip, k):
        scores, profiles = tip.TKNC(k)(layers(TEST))
        criterion, _ = seen("tknc", compat="dnn-tip", k=k)
        assert np.array_equal(np.flatnonzero(profiles.any(0)), criterion.obligations().covered.numpy())
        assert set(scores.tolist()) == {sum(min(k, w) for w in WIDTHS)}

    def traces(self, batch):
        return batch.values[:, SCOPE.traced].double().numpy(), batch.predicted.numpy()

    def test_dsa(self, tip):
        from dnn_tip.surprise import DSA

        theirs = DSA(*self.traces(TRAIN))(*self.traces(TEST))
        criterion, _ = seen("dsa", compat="dnn-tip", upper=2.0)
        np.testing.assert_allclose(criterion.of(TEST).numpy(), theirs, rtol=1e-5)

    def test_lsa_mdsa_and_mlsa_of_all_classes_together(self, tip):
        from dnn_tip.surprise import LSA, MDSA, MLSA

        train, test = self.traces(TRAIN)[0], self.traces(TEST)[0]
        for theirs, name, tolerance in ((LSA, "lsa", 1e-8), (MDSA, "mdsa", 1e-6)):
            criterion, _ = seen(name, compat="dnn-tip", upper=50.0, lower=-50.0)
            np.testing.assert_allclose(criterion.of(TEST).numpy(), theirs(train)(test), rtol=tolerance)
        np.random.seed(0)  # noqa: NPY002 - their mixture draws from the global stream
        criterion, _ = seen("mlsa", compat="dnn-tip", upper=50.0, lower=-50.0)
        theirs = MLSA(train)(test)
        assert np.corrcoef(criterion.of(TEST).numpy(), theirs)[0, 1] > 0.9  # another start of the same fit

    def test_buckets(self, tip):
        from dnn_tip.surprise import SurpriseCoverageMapper

        criterion, _ = seen("dsa", compat="dnn-tip", upper=1.0, buckets=13)
        profile = SurpriseCoverageMapper(13, 1.0).get_coverage_profile(criterion.of(TEST).double().numpy())
        assert np.array_equal(np.flatnonzero(profile.any(0)), criterion.obligations().covered.numpy())


class TestAgainstScipy:
    def test_lsa_is_the_log_density_of_the_class(self):
        criterion, _ = seen("lsa", lower=-100.0, upper=100.0, least_variance=0.0)
        mine = criterion.of(TEST)
        for label in range(4):
            train = TRAIN.values[TRAIN.predicted == label][:, SCOPE.traced].double().numpy()
            test = TEST.values[TEST.predicted == label][:, SCOPE.traced].double().numpy()
            np.testing.assert_allclose(
                mine[TEST.predicted == label].numpy(), -gaussian_kde(train.T).logpdf(test.T), rtol=1e-9
            )

    def test_lsa_is_finite_far_out_where_densities_are_not(self):
        criterion, _ = seen("lsa", lower=-100.0, upper=100.0, least_variance=0.0)
        far = from_values(TEST.values * 100, SCOPE, TEST.predicted)
        assert criterion.of(far).isfinite().all()

    def test_mlsa_is_the_mixtures_own_score(self):
        from sklearn.mixture import GaussianMixture

        criterion, _ = seen("mlsa", lower=-100.0, upper=100.0)
        mine = criterion.of(TEST)
        train = TRAIN.values[PROFILE_ORDER][TRAIN.predicted[PROFILE_ORDER] == 1][:, SCOPE.traced].double().numpy()
        test = TEST.values[TEST.predicted == 1][:, SCOPE.traced].double().numpy()
        theirs = -GaussianMixture(2, random_state=0).fit(train).score_samples(test)
        np.testing.assert_allclose(mine[TEST.predicted == 1].numpy(), theirs, rtol=1e-6)


def _order():
    """The training rows in the order in which the profile keeps their traces."""
    from foible.coverage.hashing import row_hashes

    return row_hashes(TRAIN.values[:, SCOPE.traced]).argsort()


PROFILE_ORDER = _order()


class TestAgainstLoops:
    """One input, one unit at a time, as the definitions say."""

    def test_nc(self):
        covered = set()
        for x in TEST.values:
            for part in SCOPE.slices:
                low, high = x[part].min(), x[part].max()
                covered |= {
                    part.start + i for i, z in enumerate(x[part]) if high > low and (z - low) / (high - low) > 0.5
                }
        assert sorted(covered) == seen("nc")[0].obligations().covered.tolist()

    @pytest.mark.parametrize("k", [3, 100])
    def test_kmnc(self, k):
        covered = set()
        for x in TEST.values:
            for i, (z, low, high) in enumerate(zip(x, PROFILE.low, PROFILE.high, strict=True)):
                if low < high and low <= z <= high:
                    covered.add(i * k + min(int(torch.floor((z - low) * k / (high - low))), k - 1))
        criterion, gains = seen("kmnc", k=k)
        assert sorted(covered) == criterion.obligations().covered.tolist()
        assert int(gains.sum()) == len(covered)

    def test_boundaries(self):
        low, high = PROFILE.low - 0.5 * PROFILE.spread, PROFILE.high + 0.5 * PROFILE.spread
        covered = {
            2 * i + side
            for x in TEST.values
            for i, z in enumerate(x)
            for side in (0, 1)
            if (z < low[i], z > high[i])[side]
        }
        assert sorted(covered) == seen("nbc", multiplier=0.5)[0].obligations().covered.tolist()

    @pytest.mark.parametrize("k", [1, 3])
    def test_ranks_and_patterns(self, k):
        top, bottom, patterns = set(), set(), set()
        for x in TEST.values.tolist():
            pattern = []
            for part in SCOPE.slices:
                units = range(part.start, part.stop)
                best = sorted(units, key=lambda i: (-x[i], i))[:k]
                top |= set(best)
                bottom |= set(sorted(units, key=lambda i: (x[i], i))[:k])
                pattern.append(frozenset(best))
            patterns.add(tuple(pattern))
        assert sorted(top) == seen("tknc", k=k)[0].obligations().covered.tolist()
        assert sorted(bottom) == seen("bknc", k=k)[0].obligations().covered.tolist()
        assert len(patterns) == seen("tknp", k=k)[0].value()

    @pytest.mark.parametrize("name", ["ss", "sv", "vs", "vv"])
    def test_changes(self, name):
        values = TEST.values - 0.7  # signs of both kinds
        shifted = fitted([from_values(TRAIN.values - 0.7, SCOPE, TRAIN.predicted)])
        criterion = build("coverage", name, {"profile": shifted, "relaxed": 0.5, "compared": 10**6})
        criterion.absorb(from_values(values, SCOPE, TEST.predicted))
        covered, first = set(), 0
        for a, b in zip(SCOPE.slices, SCOPE.slices[1:], strict=False):
            width, height = a.stop - a.start, b.stop - b.start
            for n in range(len(values)):
                for m in range(n):
                    x, y = values[n], values[m]
                    flips, moves = (x > 0) != (y > 0), (x - y).abs() > shifted.spread
                    changed = int(flips[a].sum())
                    if not (1 <= changed <= max(1, 0.5 * width) if name[0] == "s" else changed == 0):
                        continue
                    condition = flips[a] if name[0] == "s" else moves[a]
                    decision = flips[b] if name[1] == "s" else moves[b] & ~flips[b]
                    covered |= {
                        first + int(i) * height + int(j) for i in condition.nonzero() for j in decision.nonzero()
                    }
            first += width * height
        assert covered and sorted(covered) == criterion.obligations().covered.tolist()

    def test_dsa(self):
        mine = seen("dsa", lower=0.0, upper=2.0)[0].of(TEST)
        train, test = TRAIN.values[:, SCOPE.traced], TEST.values[:, SCOPE.traced]
        for x, label, score in zip(test, TEST.predicted, mine, strict=True):
            same = train[TRAIN.predicted == label]
            nearest = same[(same - x).norm(dim=1).argmin()]
            other = (train[TRAIN.predicted != label] - nearest).norm(dim=1).min()
            assert float(score) == pytest.approx(float((x - nearest).norm() / other), rel=1e-5)

    def test_nlc(self):
        total = sum(np.abs(np.cov(TEST.values[:, s].double().numpy().T, bias=True)).mean() for s in SCOPE.slices)
        assert seen("nlc")[0].value() == pytest.approx(total)
