"""How long `foible compare` takes on two runs of 1,000 origins each, from the shell: the interpreter's start included.

Once more where nothing is compiled yet, neither foible nor what it imports: what the first call after an installation takes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from foible.testing.runs import BUDGET, Story, write_run
from measure import seconds, write

ORIGINS, REPEATS = 1000, 5


def stories(rng: np.random.Generator, scale: float) -> list[Story]:
    costs = rng.exponential(scale, ORIGINS).astype(int) + 1
    return [Story(c <= BUDGET, int(min(c, BUDGET)), bool(rng.random() < 0.5) if c <= BUDGET else None) for c in costs]


def children_seconds() -> float:
    """Processor time of finished children: what a busy machine does not stretch."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / name for name in ("quick", "slow")]
        for path, scale in zip(names, (40, 90), strict=True):
            write_run(path, stories(rng, scale), search={"use": path.name})
        command = [sys.executable, "-m", "foible", "compare", *map(str, names), "--quiet"]
        before = children_seconds()
        times = [seconds(lambda: subprocess.run(command, check=True)) for _ in range(REPEATS)]
        used = (children_seconds() - before) / REPEATS
        afresh = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
        first = seconds(lambda: subprocess.run(command, check=True, env=afresh))
    figures = {"origins": ORIGINS, "seconds": round(median(times), 2), "cpu_seconds": round(used, 2)}
    figures["seconds_where_nothing_is_compiled"] = round(first, 2)
    write("compare", figures | {"all": [round(t, 2) for t in times]})


if __name__ == "__main__":
    main()
