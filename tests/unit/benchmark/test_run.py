"""Running a matrix of toys: in any order, with a cell that fails, interrupted, and killed."""

import os
import random
import signal
import threading

import pytest

from foible.benchmark import load_matrix, run_benchmark, write_tables
from foible.benchmark.ledger import read_ledger
from foible.store import open_run
from foible.testing import toys


def tables(folder):
    return {path.name: path.read_text() for path in [*(folder / "tables").iterdir(), folder / "benchmark.html"]}


def test_all_cells_run_and_a_second_time_nothing_does(toy_matrix, tmp_path):
    matrix, folder, heard = load_matrix(toy_matrix()), tmp_path / "b", []
    assert {e.state for e in run_benchmark(matrix, folder, heard.append)} == {"complete"}
    assert [open_run(folder / c.name).state for c in matrix.cells] == ["complete"] * 4
    assert heard[-1].cells == 4 and heard[-1].done == 3 and heard[0].seconds_left is None
    assert heard[-1].seconds_left is not None and heard[-1].share <= 1
    assert set(read_ledger(folder).cells) == {c.name for c in matrix.cells}
    before, again = {p: p.stat().st_mtime_ns for p in folder.rglob("run.sqlite")}, []
    assert {e.state for e in run_benchmark(matrix, folder, again.append)} == {"complete"}
    assert again == [] and before == {p: p.stat().st_mtime_ns for p in before}


def test_no_result_depends_on_the_order(toy_matrix, tmp_path):
    matrix = load_matrix(toy_matrix())
    for folder, order in ((tmp_path / "a", None), (tmp_path / "b", [3, 1, 0, 2])):
        assert [e.cell.name for e in run_benchmark(matrix, folder, order=order)] == [c.name for c in matrix.cells]
        write_tables(matrix, folder)
    assert tables(tmp_path / "a") == tables(tmp_path / "b")


def test_a_cell_that_cannot_run_does_not_stop_the_others(toy_matrix, tmp_path):
    axes = [
        {
            "absent": {"title": "absent", "generator": "models/<none>.safetensors"},
            "crash": {"title": "crash", "classifier": f"{tmp_path / 'own.py'}:Broken"},
            "sound": {"title": "sound"},
        }
    ]
    (tmp_path / "own.py").write_text(
        "from foible.testing.toys import ToyClassifier\n"
        "class Broken(ToyClassifier):\n    def __call__(self, images):\n        raise ZeroDivisionError('no luck')\n"
    )
    matrix, folder = load_matrix(toy_matrix(axes=axes)), tmp_path / "b"
    absent, crash, sound = run_benchmark(matrix, folder)
    assert (absent.state, crash.state, sound.state) == ("failed", "failed", "complete")
    assert "models/<none>.safetensors" in absent.problem and "no luck" in crash.problem
    page = write_tables(matrix, folder, {absent.cell.name: absent.problem}).read_text()
    assert "toys-absent" in page and "&lt;none&gt;" in page and "not run" in page


def test_another_recipe_in_the_same_folder_is_refused(toy_matrix, tmp_path):
    folder = tmp_path / "b"
    run_benchmark(load_matrix(toy_matrix(), only=["encoder", "near"]), folder)
    (changed,) = run_benchmark(load_matrix(toy_matrix(), {"seed": 9}, only=["encoder", "near"]), folder)
    assert changed.state == "failed" and "another recipe" in changed.problem and "seed" in changed.problem


def test_a_cell_that_another_process_holds_is_left_to_it(toy_matrix, tmp_path):
    from filelock import FileLock

    matrix, folder = load_matrix(toy_matrix(), only=["encoder"]), tmp_path / "b"
    (folder / "toys-encoder-near").mkdir(parents=True)
    with FileLock(folder / "toys-encoder-near" / ".lock"):
        near, far = run_benchmark(matrix, folder)
    assert (near.state, far.state) == ("elsewhere", "complete")
    assert [e.state for e in run_benchmark(matrix, folder)] == ["complete", "complete"]


def test_an_interruption_stops_the_whole(toy_matrix, tmp_path):
    matrix, folder = load_matrix(toy_matrix()), tmp_path / "b"

    def stop(standing):
        if standing.done == 1 and standing.share > 0:
            raise KeyboardInterrupt

    assert [e.state for e in run_benchmark(matrix, folder, stop)] == ["complete", *["interrupted"] * 3]
    assert {e.state for e in run_benchmark(matrix, folder)} == {"complete"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_ten_random_moments_it_ends_with_the_same_tables(toy_matrix, tmp_path):
    axes = [
        {
            "encoder": {"title": "encoder", "generator": f"{toys.__file__}:ToyEncoder"},
            "sampler": {"title": "sampler", "generator": f"{toys.__file__}:ToyGenerator"},
        },
        {f"step-{k}": {"title": f"step {k}", "search": {"extent": 0.01 * k}} for k in (1, 3, 5)},
        {f"p{n}": {"title": f"population {n}", "search": {"population": n, "survivors": 4}} for n in (8, 10, 12, 15)},
    ]
    matrix = load_matrix(toy_matrix(axes=axes, engine={"chunk": 16, "lanes": 2, "checkpoint_seconds": 0.01}))
    assert len(matrix.cells) == 24
    whole, torn, ticks = tmp_path / "whole", tmp_path / "torn", []
    run_benchmark(matrix, whole, ticks.append)
    write_tables(matrix, whole)
    rng, kills = random.Random(0), 0
    for _ in range(10):
        kills += _killed(matrix, torn, len(ticks) // 10, rng)
    ended = run_benchmark(matrix, torn)
    assert kills == 10 and {e.state for e in ended} == {"complete"}
    write_tables(matrix, torn)
    assert tables(torn) == tables(whole)


def _killed(matrix, folder, rounds, rng):
    """Run in a child that kill -9 ends at a random moment: some rounds on, then anywhere within the next ones."""
    after, moment, order = rng.randint(1, max(2, rounds)), rng.random() * 0.02, rng.sample(range(24), 24)
    child = os.fork()
    if child == 0:
        heard = 0

        def listen(_):
            nonlocal heard
            heard += 1
            if heard == after:
                threading.Timer(moment, os.kill, (os.getpid(), signal.SIGKILL)).start()

        try:
            run_benchmark(matrix, folder, listen, order)
        finally:
            os._exit(0)  # whatever happens, no second pytest goes on from here
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
