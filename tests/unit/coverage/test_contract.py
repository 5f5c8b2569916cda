"""What every registered criterion must keep, whatever it measures."""

from dataclasses import replace

import pytest
import torch

from foible.coverage import USUAL, from_values
from foible.errors import DataError, RecipeError
from foible.registry import BUILT_IN, build
from tests.unit.coverage.conftest import WIDTHS, make, random_batch

NAMES = list(BUILT_IN["coverage"])
ORDERED = {"nlc-greedy"}  # depends on the order of batches, and says so


def criterion(name, profile, **settings):
    return build("coverage", name, {"profile": profile, **settings})


def same(one, other):
    assert one.keys() == other.keys()
    for key in one:
        a, b = one[key], other[key]
        if key == "examples":  # a set of rows
            a, b = (x[torch.argsort(x[:, 0])] for x in (a, b))
        torch.testing.assert_close(a, b, rtol=1e-9 if a.dtype == torch.float64 else 0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_gains_add_up_to_the_value_and_do_not_depend_on_the_cut(name, ordinary):
    batch = random_batch(40, 2, 1.3)
    if name in ORDERED:
        pytest.skip("by batches")
    whole, cut = criterion(name, ordinary), criterion(name, ordinary)
    gained = whole.observe(batch)
    pieces = torch.cat([cut.observe(batch.rows(slice(i, j))) for i, j in ((0, 1), (1, 17), (17, 40))])
    torch.testing.assert_close(gained, pieces)
    obligations = whole.obligations()
    total = whole.value() if whole.measure != "share" else len(obligations.covered)
    assert float(gained.sum()) == pytest.approx(total)
    assert whole.value() == pytest.approx(cut.value())


@pytest.mark.parametrize("name", NAMES)
def test_absorbing_remembers_what_observing_does(name, ordinary):
    batch = random_batch(30, 3)
    one, other = criterion(name, ordinary), criterion(name, ordinary)
    one.observe(batch)
    other.absorb(batch)
    same(one.state, other.state)


@pytest.mark.parametrize("name", NAMES)
def test_peeking_changes_nothing_and_is_each_input_alone(name, ordinary):
    known, batch = random_batch(10, 4), random_batch(6, 5, 1.5)
    looked = criterion(name, ordinary)
    looked.absorb(known)
    before, value = {k: v.clone() for k, v in looked.state.items()}, looked.value()
    alone = looked.peek(batch)
    same(before, looked.state)
    assert looked.value() == value
    for row in range(len(batch)):
        fresh = criterion(name, ordinary)
        fresh.absorb(known)
        assert float(fresh.observe(batch.rows(slice(row, row + 1)))[0]) == pytest.approx(float(alone[row]))


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ORDERED])
def test_merging_does_not_depend_on_the_split_or_the_order(name, ordinary):
    batch = random_batch(40, 6, 1.2)
    whole = criterion(name, ordinary)
    whole.absorb(batch)
    for cut in (1, 13, 39):
        parts = [criterion(name, ordinary), criterion(name, ordinary)]
        parts[0].absorb(batch.rows(slice(0, cut)))
        parts[1].absorb(batch.rows(slice(cut, 40)))
        for one, other in (parts, parts[::-1]):
            same(whole.merged(one.state, other.state), whole.state)


def test_the_greedy_value_cannot_be_merged(ordinary):
    greedy = criterion("nlc-greedy", ordinary)
    with pytest.raises(RecipeError, match="order"):
        greedy.merge(greedy.state)


@pytest.mark.parametrize("name", NAMES)
def test_memory_starts_empty_and_does_not_grow(name, ordinary):
    if name == "tknp":
        pytest.skip("keeps 8 bytes for each pattern")
    seen = criterion(name, ordinary, **({"examples": 16} if name in ("ss", "sv", "vs", "vv") else {}))
    seen.absorb(random_batch(20, 7))
    size = sum(t.numel() for t in seen.state.values())
    for seed in range(8, 12):
        seen.absorb(random_batch(20, seed))
    assert sum(t.numel() for t in seen.state.values()) == size


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_batch_adds_nothing(name, ordinary):
    seen = criterion(name, ordinary)
    seen.absorb(random_batch(5, 8))
    value, empty = seen.value(), random_batch(5, 8).rows(slice(0, 0))
    assert len(seen.observe(empty)) == 0
    assert seen.value() == value


@pytest.mark.parametrize("name", NAMES)
def test_obligations_are_sorted_out_once_each_and_have_names(name, ordinary):
    seen = criterion(name, ordinary)
    seen.absorb(random_batch(10, 9))
    parts = seen.obligations()
    numbers = torch.cat([parts.open, parts.covered, parts.constant, parts.infeasible])
    assert len(numbers) == len(numbers.unique())
    assert all(seen.describe(int(n)) for n in numbers[:5])


COARSE = {"nc": {"threshold": 0.8}, "tknc": {"k": 1}, "bknc": {"k": 1}} | {
    name: {"buckets": 20} for name in ("lsa", "dsa", "mdsa", "mlsa")
}


@pytest.mark.parametrize("name", NAMES)
def test_following_the_objective_covers_what_it_aims_at(name, exact):
    """Plain descent on the values themselves: a surrogate that does not lead to its obligation is none."""
    seen = criterion(name, exact, **COARSE.get(name, {}))
    seen.absorb(random_batch(3, 10, 0.5, torch.float64))
    start = random_batch(6, 11, 0.5, torch.float64)
    aims = seen.aim(start)
    assert (aims >= 0).all()
    if seen.measure == "share":
        assert set(aims.flatten().tolist()) <= set(seen.obligations().open.tolist())
    values, reached = start.values.clone(), torch.zeros(6, dtype=torch.bool)
    for _ in range(300):
        values.requires_grad_()
        loss = seen.objective(from_values(values, start.scope, start.predicted), aims, base=start)
        (slope,) = torch.autograd.grad(loss.sum(), values)
        values = (values - 0.02 * slope / slope.norm(dim=1, keepdim=True).clamp_min(1e-12)).detach()
        now = from_values(values, start.scope, start.predicted)
        there = _reached(seen, start, now, aims[:, 0])
        if seen.measure == "share":
            assert torch.equal(seen.met(now, aims, base=start)[:, 0], there)
        reached |= there
        if reached.all():
            break
    # the nearest trace changes on the way, and DSA jumps over buckets when it does
    assert float(reached.double().mean()) >= (0.5 if name == "dsa" else 0.8)


def _reached(seen, start, now, aims):
    """Whether each input covers what it aims at, or where that cannot be said, adds something."""
    if seen.measure != "share":
        return seen.peek(now) > (seen.peek(start) if seen.measure == "spread" else 0)
    met = []
    for row, aim in enumerate(aims.tolist()):
        state = seen.empty()
        for batch in (start, now):  # pairs are with the input it began as
            seen.add(state, seen.note(batch.rows(slice(row, row + 1))))
        met.append(aim in seen.obligations(state).covered.tolist())
    return torch.tensor(met)


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_equals_finite_differences(name, exact):
    seen = criterion(name, exact)
    seen.absorb(random_batch(12, 12, 0.7, torch.float64))
    start = random_batch(4, 13, 0.7, torch.float64)
    aims = seen.aim(start, count=2)
    assert aims.shape == (4, 2)
    values = (start.values + 0.01).clone()

    def loss(x):
        return seen.objective(from_values(x, start.scope, start.predicted), aims, base=start)

    moving = values.clone().requires_grad_()
    (slope,) = torch.autograd.grad(loss(moving).sum(), moving)
    step = 1e-6
    for column in range(values.shape[1]):
        nudge = torch.zeros_like(values)
        nudge[:, column] = step
        numeric = (loss(values + nudge) - loss(values - nudge)) / (2 * step)
        torch.testing.assert_close(numeric, slope[:, column], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_random_aims_are_open_too_and_repeatable(name, ordinary):
    seen = criterion(name, ordinary)
    batch = random_batch(5, 14)
    seen.absorb(random_batch(5, 15))
    rarest = seen.aim(batch, 1, "rarest")
    assert torch.equal((rarest >= 0).any(), (seen.aim(batch) >= 0).any())
    if seen.measure == "share" and bool((rarest >= 0).any()):
        shares = seen.per_layer().nan_to_num(torch.inf)
        layers = seen.layers_aimed_at(rarest[rarest >= 0])
        assert bool((shares[layers] <= shares[seen.layers_aimed_at(seen.obligations().open)].amin()).all()) or len(
            seen.gaps(batch, seen.state)[0][0]
        ) < len(seen.obligations().open)
    everything = torch.ones(seen.numbers, dtype=torch.bool)
    assert seen.aim(batch, 1, barred=everything).unique().tolist() == [-1]
    twice = [seen.aim(batch, 2, "random", torch.arange(len(batch))) for _ in range(2)]
    assert torch.equal(*twice)
    if seen.measure == "share":
        assert set(twice[0][twice[0] >= 0].tolist()) <= set(seen.obligations().open.tolist())


def test_random_aims_of_one_search_after_another_are_no_neighbours(ordinary):
    seen, batch = criterion("mdsa", ordinary), random_batch(1, 14)
    turns = batch.rows(torch.zeros(50, dtype=torch.long))
    aims = seen.aim(turns, 1, "random", torch.arange(50))[:, 0]
    assert len(aims.unique()) > 40
    assert int((aims.diff().abs() <= 1).sum()) < 5


@pytest.mark.parametrize("name", NAMES)
def test_activations_of_other_layers_are_refused(name, ordinary):
    with pytest.raises(DataError, match="profile is of"):
        criterion(name, ordinary).observe(make(torch.zeros(2, 5)))


def test_settings_out_of_range_are_refused(ordinary):
    wrong = {
        "kmnc": {"k": 0}, "tknc": {"k": 0}, "bknc": {"k": -1}, "tknp": {"k": 0}, "nbc": {"multiplier": -1}, "nc": {"threshold": -0.1},
        "lsa": {"buckets": 0}, "dsa": {"lower": 2.0, "upper": 1.0}, "mlsa": {"components": 0}, "ss": {"examples": 0},
        "nbc-slices": {"k": 0},
    }  # fmt: skip
    for name, settings in wrong.items():
        with pytest.raises(RecipeError):
            criterion(name, ordinary, **settings)


def test_an_empty_profile_is_refused(ordinary):
    fitted = criterion("nc", ordinary).profile
    profile = replace(fitted, moments=fitted.moments._replace(total=torch.tensor(0.0)))
    with pytest.raises(DataError, match="the profile is empty") as caught:
        build("coverage", "nc", {"profile": profile})
    assert "training set" in caught.value.hint


def test_too_much_memory_is_refused_politely(ordinary):
    for name, settings in {"kmnc": {"k": 100_000}, "nlc": {}, "ss": {}}.items():
        with pytest.raises(RecipeError, match="MB"):
            criterion(name, ordinary, cap_mb=0 if name != "kmnc" else 1, **settings)


def test_an_unknown_mode_is_named_with_those_that_exist(ordinary):
    with pytest.raises(RecipeError, match="no compat mode 'deepxplore'") as caught:
        criterion("kmnc", ordinary, compat="deepxplore")
    assert "dnn-tip" in caught.value.hint


def test_usual_names_are_registered():
    assert set(USUAL) <= set(NAMES)
    assert len(WIDTHS) == 3
