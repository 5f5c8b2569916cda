"""Dealing attempts out to workers, and what crosses between processes; Ray itself is used in the journeys."""

import pickle
import sys

import pytest
import torch

import foible
from foible.batching import Packing
from foible.campaign import assemble, load_recipe
from foible.campaign.dealing import Dealer, folded
from foible.campaign.events import Ended, Found, Round, Saved, Shard
from foible.campaign.spec import EngineTable
from foible.campaign.trust import must_be_equal, wishes
from foible.campaign.workers import Job, computing_with, threads_of
from foible.cli.options import recipe_changes
from foible.errors import FoibleError, MissingExtra, ModelError, RecipeError
from foible.records import Outcome
from foible.testing.runs import Story, write_run
from foible.testing.toys import toy_recipe
from foible.types import Arm, Status


def dealer(attempts=20, workers=2, least=2, saved=None):
    return Dealer(Shard(Arm.SEARCH, tuple(range(attempts)), saved or {}), workers, least)


def ended(attempt):
    return Ended(Outcome(Arm.SEARCH, attempt, 0, "sample", Status.HELD, 0))


def round_of(evaluations, *attempts):
    attempts = torch.tensor(attempts)
    return Round(Arm.SEARCH, evaluations, attempts, 0 * attempts, 10 * attempts, attempts.float())


def test_pieces_get_smaller_towards_the_end_and_leave_nothing_out():
    books = dealer()
    pieces = []
    while (piece := books.deal(len(pieces))) is not None:
        pieces.append(piece.attempts)
    assert [len(p) for p in pieces] == [5, 4, 3, 2, 2, 2, 2]
    assert sorted(sum(pieces, ())) == list(range(20))
    assert len(dealer(10, 2, 8).deal(0).attempts) == 5, "few attempts: one piece each"
    assert len(dealer(2, 8, 8).deal(0).attempts) == 1


def test_the_last_pieces_fill_a_chunk_and_no_more(toy_images):
    from foible.campaign.over_ray import _least

    def least(chunk, search, lanes=32):
        campaign = assemble(load_recipe(toy_recipe(toy_images, search=search, engine={"lanes": lanes})))
        return _least(Job(campaign, chunk, Packing.FULL, 0.0), Arm.SEARCH)

    genetic = {"use": "genetic", "population": 25, "survivors": 10}
    assert least(32, genetic) == 3, "15 candidates each"
    assert least(8, genetic) == 1
    assert least(64, "descent") == 8, "one candidate each would want 64: a quarter of the lanes will do"


def test_what_a_lost_worker_had_not_ended_is_dealt_again_from_where_it_was_saved(tmp_path):
    state = {"search.step": torch.ones(1)}
    books = dealer(4, 1, 8, saved={1: state})
    assert books.deal("a").saved == {1: state}
    finding = next(iter(write_run(tmp_path / "run", [Story(True, 3)]).findings()))
    found = Found(finding, b"", b"")
    later = {"search.step": 2 * torch.ones(1)}
    assert books.heard("a", [found, ended(2), Saved(Arm.SEARCH, {1: later})])
    books.taken_back("a")
    again = books.deal("b")
    assert again.attempts == (0, 1, 3) and again.saved == {1: later}
    assert books.heard("b", [found]) == [], "a failure that is found again is told once"
    books.heard("b", [ended(k) for k in again.attempts])
    books.ended("b")
    assert books.deal("b") is None
    assert not books.saved and not books.found and not books.under_way, "nothing is kept of what has ended"


def test_attempts_that_kill_their_worker_three_times_are_named():
    books = dealer(2, 1, 2)
    for counted in (True, False, False, True):  # one that has not begun again has lost nothing more
        books.deal(0)
        books.taken_back(0, counted)
    books.deal(0)
    books.heard(0, [Saved(Arm.SEARCH, {1: {}})])
    with pytest.raises(ModelError, match=r"lost 3 times in a row at the same attempts: 0\n"):
        books.taken_back(0)


def test_rounds_of_all_workers_are_one():
    books = dealer(4, 2, 2)
    books.deal("a"), books.deal("b")
    books.heard("a", [round_of(5, 0, 1)])
    (both,) = books.heard("b", [round_of(7, 2)])
    assert both.evaluations == 7 and both.attempts.tolist() == [0, 1, 2] and both.spent.tolist() == [0, 10, 20]
    books.ended("a")
    assert books.heard("b", [round_of(1, 2)])[0].attempts.tolist() == [2]
    told = folded([round_of(1, 0), ended(0), round_of(2, 1)])
    assert told[0] == ended(0) and told[1].evaluations == 3 and told[1].attempts.tolist() == [1]
    assert folded([]) == []


def test_errors_survive_the_way_between_processes():
    for error in (RecipeError("a", "b"), MissingExtra("ray", "ray", "this")):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error) and (copy.message, copy.hint) == (error.message, error.hint)
        assert isinstance(copy, FoibleError) and vars(copy) == vars(error)


def test_threads_are_shared_out_and_a_run_keeps_its_own(tmp_path):
    with computing_with(6):
        assert torch.get_num_threads() == 6
        assert threads_of(EngineTable()) == 6
        assert threads_of(EngineTable(workers=2)) == 3
        assert threads_of(EngineTable(workers=9)) == 1
        assert threads_of(EngineTable(workers="ray")) == threads_of(EngineTable(workers=2, address="here:1")) == 1
        assert threads_of(EngineTable(workers=2, threads=4)) == 4
        write_run(tmp_path / "run", [Story(True, 3)])
        assert threads_of(EngineTable(workers=2), tmp_path / "run") == 1
    assert torch.get_num_threads() == 1


def test_what_a_worker_takes_of_a_gpu_is_a_setting():
    from foible.campaign.over_ray import asked_of_ray

    assert asked_of_ray(EngineTable(), 2) == {"num_cpus": 2, "num_gpus": 0.0, "max_restarts": -1}
    assert asked_of_ray(EngineTable(device="cuda"), 1)["num_gpus"] == 1.0
    assert asked_of_ray(EngineTable(device="cuda:0", gpus=0.25), 1)["num_gpus"] == 0.25


def test_how_workers_are_asked_for(toy_images):
    assert recipe_changes(workers="3") == {"engine.workers": 3}
    assert recipe_changes(workers="ray", address="a:1") == {"engine.workers": "ray", "engine.address": "a:1"}
    assert recipe_changes(address="a:1")["engine.workers"] == "ray"
    assert load_recipe(toy_recipe(toy_images), {"engine.workers": "ray"}).engine.workers == "ray"
    with pytest.raises(RecipeError, match=r"engine\.workers"):
        load_recipe(toy_recipe(toy_images), {"engine.workers": "many"})
    with pytest.raises(RecipeError, match=r"engine\.workers"):
        load_recipe(toy_recipe(toy_images), {"engine.workers": -1})


def test_without_ray_the_extra_is_named(toy_images, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match="needs the package 'ray'") as caught:
        foible.run(toy_recipe(toy_images), tmp_path / "run", **{"engine.workers": 2})
    assert caught.value.hint == 'pip install "foible[ray]"'


def test_a_worker_with_other_files_is_refused_and_a_foreign_cluster_needs_trust():
    must_be_equal("file", {"a": "1"}, {"a": "1"})
    for mine in ({"a": "2"}, {}):
        with pytest.raises(ModelError, match="file 'a' is another for worker"):
            must_be_equal("file", mine, {"a": "1"})
    assert list(wishes({"engine": {"address": "there:6379"}})) == ["computes on the cluster at 'there:6379'"]
    assert list(wishes({"engine": {"address": None}})) == []
