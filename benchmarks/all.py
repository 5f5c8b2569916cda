"""Run every benchmark, one after the other; figures go to results.json. Takes about half an hour on two cores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = [
    ["engine_overhead.py"],
    ["against_published_loop.py", "--extent", "high"],
    ["against_published_loop.py", "--extent", "low", "--attempts", "40"],
    ["memory.py"],
    ["sandbox_overhead.py"],
    ["compare_runs.py"],
    ["workers.py"],
    ["coverage_speed.py"],
    ["coverage_pass.py"],
    ["coverage_surrogates.py"],
    ["coverage_generate.py"],
]

for script in SCRIPTS:
    subprocess.run([sys.executable, HERE / script[0], *script[1:]], check=True)
