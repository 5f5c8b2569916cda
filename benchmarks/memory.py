"""Peak resident memory of a 5,000-origin campaign against a 200-origin one, each in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

SMALL, LARGE = 200, 5000


def one(attempts: int) -> None:
    from foible.campaign import run
    from measure import mnist_campaign

    # a wide step keeps the searches short: what is measured is the number of origins, not of evaluations
    campaign = mnist_campaign(
        attempts=attempts, **{"search.extent": 0.02, "search.compat": False, "ends": "confirmed", "engine.chunk": 32}
    )
    with tempfile.TemporaryDirectory() as folder:
        run(campaign, Path(folder) / "run")
    print(json.dumps({"peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}))


def main() -> None:
    from measure import write

    peaks = {}
    for attempts in (SMALL, LARGE):
        output = subprocess.run(
            [sys.executable, __file__, str(attempts)], capture_output=True, text=True, check=True
        ).stdout
        peaks[attempts] = json.loads(output.splitlines()[-1])["peak_mb"]
    write("memory", {"ratio": round(peaks[LARGE] / peaks[SMALL], 3), "peak_mb": peaks})


if __name__ == "__main__":
    one(int(sys.argv[1])) if len(sys.argv) > 1 else main()
