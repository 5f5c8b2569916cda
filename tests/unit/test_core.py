"""types, errors, registry, seeding, batching: numbers a reader can check with a pencil."""

import pytest
import torch

from foible.batching import Chunks, fastest_chunk
from foible.errors import RecipeError, did_you_mean
from foible.registry import BUILT_IN, build, find
from foible.seeding import Streams, normal, uniform
from foible.types import LatentSpace


def test_latent_space_is_measured_from_samples():
    space = LatentSpace.measured(torch.tensor([[0.0, 1.0], [2.0, -3.0]]))
    assert space.shape == (2,)
    assert space.range == 5.0
    assert space.step.tolist() == [1.0, 2.0]
    assert space.clamp(torch.tensor([[9.0, -9.0]])).tolist() == [[2.0, -3.0]]


def test_did_you_mean_offers_the_closest():
    assert did_you_mean("genetics", ["genetic", "random"]) == "did you mean 'genetic'?"
    assert did_you_mean("xyz", ["genetic", "random"]) == "known: genetic, random"
    many = did_you_mean("xyz", [f"recipe-{k:02}" for k in range(60)])
    assert many.startswith("known: recipe-00, recipe-01, ") and many.endswith("recipe-11 and 48 more, see `foible ls`")


def test_every_registered_component_exists():
    for heading, rows in BUILT_IN.items():
        for name in rows:
            assert find(heading, name)


def test_unknown_names_and_parameters_are_named():
    with pytest.raises(RecipeError, match="no search is called 'genetics'") as caught:
        find("searches", "genetics")
    assert "'genetic'" in caught.value.hint
    with pytest.raises(RecipeError, match="has no parameter 'populatoin'") as caught:
        build("searches", "genetic", {"populatoin": 3})
    assert "population" in caught.value.hint


def test_component_from_a_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    def __init__(self, size=1):\n        self.size = size\n")
    assert build("searches", f"{file}:Mine", {"size": 4}).size == 4
    with pytest.raises(RecipeError, match="has no 'Mien'") as caught:
        find("searches", f"{file}:Mien")
    assert "'Mine'" in caught.value.hint
    file.write_text("import nothing_of_this_name\n")
    with pytest.raises(RecipeError, match="cannot be imported: ModuleNotFoundError"):
        find("searches", f"{file}:Mine")
    with pytest.raises(RecipeError, match="no file"):
        find("searches", f"{tmp_path / 'absent.py'}:Mine")


def test_component_from_an_installed_package(monkeypatch):
    from importlib.metadata import EntryPoint

    from foible import registry

    registry.table.cache_clear()
    point = EntryPoint("shiny", "foible.searches.random:Random", "foible.searches")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == "foible.searches" else [])
    assert find("searches", "shiny").__name__ == "Random"
    registry.table.cache_clear()


def test_streams_are_addressed_not_ordered():
    streams = Streams(5)
    first = torch.rand(3, generator=streams.at("a", 1, 2))
    torch.rand(99, generator=streams.at("b", 1))
    assert torch.equal(first, torch.rand(3, generator=streams.at("a", 1, 2)))
    for other in (streams.at("a", 2, 1), streams.at("b", 1, 2), Streams(6).at("a", 1, 2)):
        assert not torch.equal(first, torch.rand(3, generator=other))


def test_each_lane_draws_from_its_own_stream():
    streams = Streams(0)
    both = normal(streams.each("x", torch.tensor([4, 9]), torch.tensor([0, 1])), (2, 3))
    alone = normal(streams.each("x", torch.tensor([9]), torch.tensor([1])), (2, 3))
    assert torch.equal(both[1], alone[0])
    draws = uniform(streams.each("x", torch.tensor([0]), torch.tensor([0])), (10_000,))
    assert float(draws.min()) >= 0 and float(draws.max()) < 1
    assert abs(float(draws.mean()) - 0.5) < 0.02


def test_global_randomness_is_neither_used_nor_disturbed():
    state = torch.random.get_rng_state()
    normal(Streams(0).each("x", torch.tensor([0]), torch.tensor([0])), (5,))
    assert torch.equal(state, torch.random.get_rng_state())


def test_chunks_all_have_one_shape_and_results_are_joined():
    seen = []

    def double(x):
        seen.append(len(x))
        return (2 * x,)

    (out,) = Chunks(4)(double, torch.arange(10))
    assert out.tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]
    assert seen == [4, 4, 4]


def test_chunk_shrinks_when_memory_runs_out_and_stays_small():
    def greedy(x):
        if len(x) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return (x,)

    shrunk = []
    chunks = Chunks(16, shrunk=lambda old, new: shrunk.append((old, new)))
    assert chunks(greedy, torch.arange(20))[0].tolist() == list(range(20))
    assert chunks.size == 4 and shrunk == [(16, 8), (8, 4)]


def test_other_errors_are_not_mistaken_for_a_lack_of_memory():
    def broken(x):
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        Chunks(8)(broken, torch.arange(3))


@pytest.mark.parametrize(
    ("rounds", "best"),
    [
        ([320], 32),  # 10 chunks of 17 = 170, against 20 x 16 = 320 and 5 x 64 = 320
        ([15], 32),  # one chunk either way: the larger one costs 17 instead of 16, which is about the same
        ([33], 64),  # 2 x 32-chunks cost 34, 3 x 16-chunks 48, one 64-chunk 30
    ],
)
def test_the_chunk_is_chosen_with_its_padding(monkeypatch, rounds, best):
    clock, cost = {"now": 0.0}, {16: 16.0, 32: 17.0, 64: 64.0 if rounds == [320] else 30.0}
    monkeypatch.setattr("foible.batching.time.perf_counter", lambda: clock["now"])

    def run(size):
        clock["now"] += cost[size]

    assert fastest_chunk(run, rounds, sizes=(16, 32, 64)) == best
