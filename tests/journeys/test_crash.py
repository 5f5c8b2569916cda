"""kill -9 at random moments; the same command then gives what an undisturbed run gives."""

import os
import random
import signal
import subprocess
import sys
import time

from foible.store import open_run
from foible.types import Status

from .conftest import contents, foible

KILLS = 6


def test_killed_again_and_again(toy_file, tmp_path):
    recipe = toy_file(
        attempts=240, budget={"evaluations": 3000}, engine={"chunk": 16, "lanes": 24, "checkpoint_seconds": 0.05}
    )
    whole = foible("run", recipe, "--out", tmp_path / "whole", "--quiet")
    assert whole.returncode == 0, whole.stderr
    dice, killed = random.Random(0), 0
    command = [sys.executable, "-m", "foible", "run", str(recipe), "--out", str(tmp_path / "killed"), "--quiet"]
    for _ in range(KILLS):
        process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE)
        wait_for_writing(tmp_path / "killed" / "run.sqlite", process)
        time.sleep(dice.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed >= 5, "the run ended before it could be killed: make it longer"
    before = open_run(tmp_path / "killed")
    unfinished = 240 - sum(before.counts().values())
    assert unfinished > 0, "there is something left to do"
    last = foible("run", recipe, "--out", tmp_path / "killed", "--quiet")
    assert last.returncode == 0, last.stderr
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert open_run(tmp_path / "whole").counts()[Status.FOUND] > 100


def wait_for_writing(database, process):
    """Until this process has begun to write (its lock is held and the database exists), or has ended."""
    begin = database.stat().st_mtime_ns if database.exists() else 0
    wal = database.with_name(database.name + "-wal")
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        newest = max((p.stat().st_mtime_ns for p in (database, wal) if p.exists()), default=0)
        if newest > begin and wal.exists():
            return
        time.sleep(0.01)
