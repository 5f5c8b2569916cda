"""kill -9 at random moments; the same command then gives what an undisturbed run gives."""

import os
import random
import signal
import subprocess
import sys
import time

from foible import run
from foible.store import open_run
from foible.testing import toys
from foible.types import Status

from .conftest import contents

KILLS = 4


def test_killed_again_and_again(toy_file, tmp_path):
    recipe = toy_file(
        attempts=240,
        budget={"evaluations": 3000},
        engine={"chunk": 16, "lanes": 24, "checkpoint_seconds": 0.05},
        validators=[{"use": f"{toys.__file__}:ToyJudge", "darkest": 0.45}],
    )
    begin = time.monotonic()
    run(recipe, tmp_path / "whole")
    share = (time.monotonic() - begin) / (
        KILLS + 1
    )  # of the whole, so that something is left however quick the machine
    dice, killed = random.Random(0), 0
    command = [sys.executable, "-m", "foible", "run", str(recipe), "--out", str(tmp_path / "killed"), "--quiet"]
    for _ in range(KILLS):
        process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE)
        wait_for_writing(tmp_path / "killed" / "run.sqlite", process)
        time.sleep(dice.uniform(0.0, share))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed >= KILLS - 1, "the run ended before it could be killed"
    before = open_run(tmp_path / "killed")
    unfinished = 240 - sum(before.counts().values())
    assert unfinished > 0, "there is something left to do"
    assert run(recipe, tmp_path / "killed").state == "complete"
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    counts = open_run(tmp_path / "whole").counts()
    assert counts[Status.FOUND] > 100 and counts[Status.REFUSED] > 10


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


def test_a_disk_that_fills_up_loses_nothing(toy_file, tmp_path):
    """A file-size limit stands in for a full disk: the run stops with a hint, and goes on when there is room."""
    recipe = toy_file(attempts=120, engine={"chunk": 16, "lanes": 8, "checkpoint_seconds": 0.05})
    out = tmp_path / "run"
    command = f"ulimit -f 400; exec {sys.executable} -m foible run {recipe} --out {out} --quiet"
    full = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=120, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert full.returncode == 3, full.stderr
    assert (
        "error:" in full.stderr
        and "then run the same command to go on" in full.stderr
        and "Traceback" not in full.stderr
    )
    kept = sum(open_run(out).counts().values())
    assert 0 < kept < 120, "what was found before is still there"
    assert run(recipe, out).state == run(recipe, tmp_path / "whole").state == "complete"
    assert contents(out) == contents(tmp_path / "whole")
