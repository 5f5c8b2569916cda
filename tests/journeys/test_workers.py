"""The same run over processes, with real Ray: a worker is killed, the run is interrupted, and nothing differs."""

import os
import signal
import subprocess
import sys
import time

import pytest
import tomli_w

from foible.campaign import assemble, load_recipe, run
from foible.errors import StoreError
from foible.store import open_run
from foible.testing.toys import toy_recipe

from .conftest import contents, foible

pytest.importorskip("ray", reason="Ray is not installed: pip install 'foible[ray]'")

LOADED = """
import os, time
from pathlib import Path
from foible.testing.toys import ToyClassifier

class Slow(ToyClassifier):
    def __init__(self):
        super().__init__()
        with (Path(__file__).parent / "loaded").open("a") as file:
            file.write(f"{os.getpid()}\\n")

    def __call__(self, images):
        time.sleep(0.003)
        return super().__call__(images)
"""
ENGINE = {"chunk": 16, "lanes": 4, "checkpoint_seconds": 0.2, "threads": 1}


def test_a_killed_worker_changes_no_finding(toy_images, tmp_path):
    (tmp_path / "slow.py").write_text(LOADED)
    recipe = toy_recipe(toy_images, attempts=16, budget={"evaluations": 600}, baseline={"attempts": 0}, engine=ENGINE)
    recipe |= {"classifier": f"{tmp_path / 'slow.py'}:Slow", "search": {"use": "genetic", "extent": 0.006}}
    run(assemble(load_recipe(recipe)), tmp_path / "serial")
    killed, nice = [], []

    def kill(progress):
        loaded = [pid for pid in map(int, (tmp_path / "loaded").read_text().split()) if pid != os.getpid()]
        if not killed and loaded:
            nice.append(os.getpriority(os.PRIO_PROCESS, loaded[0]))
            os.kill(loaded[0], signal.SIGKILL)
            killed.append(progress.share)

    state = run(assemble(load_recipe(recipe, {"engine.workers": 2})), tmp_path / "spread", kill)
    assert state == "complete" and len(killed) == 1 and killed[0] < 1, "it was killed while there was much to do"
    assert contents(tmp_path / "spread") == contents(tmp_path / "serial")
    assert len(contents(tmp_path / "spread")[1]) > 5, "there is something to compare"
    assert nice == [os.getpriority(os.PRIO_PROCESS, 0)], (
        "workers give way to other programs no more than this process does"
    )


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("FOIBLE_RAY"), reason="starts a Ray of its own: set FOIBLE_RAY=1")
def test_a_killed_worker_and_an_interruption_change_nothing(toy_images, tmp_path):
    """Two cells over two workers: one is killed in the first cell, all are interrupted in the second."""
    (tmp_path / "slow.py").write_text(LOADED)
    shared = toy_recipe(toy_images, attempts=24, budget={"evaluations": 600}, classifier="slow.py:Slow")
    shared |= {"engine": ENGINE}
    shared.pop("name")
    axes = [{"near": {"search": {"extent": 0.006}}, "far": {"search": {"extent": 0.01}}}]
    (tmp_path / "bars.toml").write_text(tomli_w.dumps({"shared": shared, "axes": axes}))
    assert foible("benchmark", "bars.toml", "--out", "serial", "-q", cwd=tmp_path).returncode == 0
    (tmp_path / "loaded").unlink()
    command = [sys.executable, "-m", "foible", "benchmark", "bars.toml", "--out", "spread", "--workers", "2", "-q"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        wait_for(lambda: outcomes(tmp_path / "spread" / "bars-near") > 2, process)
        os.kill(workers(process, tmp_path / "loaded")[0], signal.SIGKILL)
        wait_for(lambda: outcomes(tmp_path / "spread" / "bars-far") > 2, process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everyone in the group
        _, said = process.communicate(timeout=180)
    finally:
        process.kill()
    assert process.returncode == 3 and "bars-far: interrupted" in said and "Traceback" not in said, said
    assert contents(tmp_path / "spread" / "bars-near") == contents(tmp_path / "serial" / "bars-near")
    assert len(contents(tmp_path / "spread" / "bars-near")[1]) > 5, "there is something to compare"
    assert len(workers(process, tmp_path / "loaded")) <= 2 * 2 + 1, "models are loaded once per worker and cell"
    assert open_run(tmp_path / "spread" / "bars-far").state == "interrupted"
    assert foible("benchmark", "bars.toml", "--out", "spread", "-q", cwd=tmp_path).returncode == 0
    assert contents(tmp_path / "spread" / "bars-far") == contents(tmp_path / "serial" / "bars-far")
    tables = [(tmp_path / out / "tables" / "results.csv").read_text() for out in ("serial", "spread")]
    assert tables[0] == tables[1]


def workers(process, file):
    """The processes other than the command itself that have loaded the models."""
    return [pid for pid in map(int, file.read_text().split()) if pid != process.pid]


def outcomes(folder):
    try:
        return sum(open_run(folder).counts().values())
    except StoreError:  # nothing is stored yet
        return 0


def wait_for(there, process):
    deadline = time.monotonic() + 180
    while not there():
        assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
        time.sleep(0.02)
