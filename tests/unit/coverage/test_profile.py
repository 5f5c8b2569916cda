"""Profiles: one pass, any split, saved and read back, and what is refused."""

import itertools

import pytest
import torch

from foible.coverage import Scope, fitted, load_profile, read, save_profile
from foible.coverage.hashing import keys, mixed, row_hashes
from foible.errors import DataError, ModelError, RecipeError
from tests.unit.coverage.conftest import make, random_batch, random_rows


def equal(one, other):
    for name in ("low", "high", "traces", "traced_class", "traced_hash"):
        assert torch.equal(getattr(one, name), getattr(other, name)), name
    for a, b in zip((*one.moments, *one.classes), (*other.moments, *other.classes), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("keep", [7, 500])
def test_the_split_makes_no_difference(keep):
    batch = random_batch(90, 1)
    whole = fitted([batch], keep=keep)
    for cuts in ((0, 1, 90), (0, 30, 60, 90), (0, 89, 90)):
        parts = [batch.rows(slice(a, b)) for a, b in itertools.pairwise(cuts)]
        equal(fitted(parts, keep=keep), whole)
        equal(fitted(parts[::-1], keep=keep), whole)
    assert int(whole.traced_class.bincount().max()) <= keep


def test_numbers_are_those_of_the_data():
    values, classes = random_rows(50, 2)
    profile = fitted([make(values, (4, 6, 3), classes, classes=3)])
    assert profile.count == 50
    torch.testing.assert_close(profile.spread, values.std(0, correction=0))
    assert torch.equal(profile.low, values.amin(0)) and torch.equal(profile.high, values.amax(0))
    mine = values[classes == 1][:, 4:10].double()  # the last layer but one
    covariance = profile.classes.scatter[1] / profile.classes.total[1]
    torch.testing.assert_close(covariance, torch.cov(mine.T, correction=0))


def test_large_values_lose_no_variance():
    profile = fitted([make([[1e6 + i]], (1,)) for i in range(9)])
    assert float(profile.spread) == pytest.approx(60**0.5 / 3)


def test_saved_and_read_back(tmp_path):
    profile = fitted([random_batch(40, 3)], model="abc", source="forty numbers")
    again = load_profile(save_profile(profile, tmp_path / "deep" / "p.safetensors"), model="abc")
    equal(again, profile)
    assert again.scope == profile.scope and (again.model, again.source, again.count) == ("abc", "forty numbers", 40)


def test_bounds_survive_saving(tmp_path):
    scope = Scope(("a",), (2,), where="post", bounds=((0.0, float("inf")),))
    profile = fitted([make([[0, 1], [1, 2]], scope=scope)])
    assert load_profile(save_profile(profile, tmp_path / "p.safetensors")).scope == scope


def test_a_profile_of_another_model_is_refused(tmp_path):
    path = save_profile(fitted([random_batch(5, 4)], model="one"), tmp_path / "p.safetensors")
    with pytest.raises(ModelError, match="another model"):
        load_profile(path, model="two")
    with pytest.raises(DataError, match="cannot be merged"):
        load_profile(path).merged(fitted([random_batch(5, 4)], model="two"))


def test_what_is_no_profile_is_refused(tmp_path):
    with pytest.raises(DataError, match="no profile"):
        load_profile(tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot be read"):
        load_profile(tmp_path / "bad.safetensors")
    with pytest.raises(DataError, match="at least one input"):
        fitted([])
    with pytest.raises(DataError, match="at least one input"):
        fitted([random_batch(3, 1).rows(slice(0, 0))])


def test_layers_that_do_not_exist_are_named():
    scope = Scope(("conv1", "fc"), (2, 3))
    given = {"conv1": torch.zeros(1, 2, 4, 4), "fc1": torch.zeros(1, 3)}
    with pytest.raises(RecipeError, match="no layer 'fc'") as caught:
        read(given, scope)
    assert "fc1" in caught.value.hint
    with pytest.raises(DataError, match="has 3 units, 2 were expected"):
        read({"conv1": torch.zeros(1, 3, 4, 4), "fc": torch.zeros(1, 3)}, scope)
    with pytest.raises(DataError, match="NaN"):
        read({"conv1": torch.full((1, 2, 4, 4), torch.nan), "fc": torch.zeros(1, 3)}, scope)
    for wrong in ({"layers": ()}, {"widths": (1,)}, {"widths": (0, 1)}, {"trace": ("c",)}, {"bounds": ((0.0, 1.0),)}):
        with pytest.raises(RecipeError):
            Scope(**({"layers": ("a", "b"), "widths": (1, 1)} | wrong))


def test_units_of_maps_tokens_and_vectors():
    maps = torch.arange(16.0).view(1, 2, 2, 4)
    assert read({"a": maps}, Scope(("a",), (2,))).values.tolist() == [[3.5, 11.5]]
    assert read({"a": maps}, Scope(("a",), (16,), unit="element")).values.shape == (1, 16)
    tokens = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]])
    batch = read({"a": tokens}, Scope(("a",), (2,)))
    assert batch.values.tolist() == [[3.0, 5.0]] and batch.high.tolist() == [[9.0]]


def test_hashes_are_the_published_ones_and_see_every_value():
    # splitmix64 from state 0 gives 0xE220A8397B1DCDAF first
    assert mixed(torch.tensor([0]))[0].item() & (2**64 - 1) == 0xE220A8397B1DCDAF
    assert len(keys(1000).unique()) == 1000
    rows = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [0.0, 0.0], [-0.0, 0.0]])
    one, other, same, zero, minus = row_hashes(rows).tolist()
    assert one == same != other and zero == minus
