"""How long `foible judge` takes, from the shell to the last line, on a folder of real images.

python benchmarks/judge_speed.py mnist svhn --images 1000 --rounds 3
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from foible.domains import load_domain, real_images
from foible.images import png_bytes
from foible.validators.judge import Judge
from foible.validators.usual import some
from measure import write


def timed(folder: Path, domain: str) -> tuple[float, float]:
    """Seconds by the clock and of the processor that the command takes."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "foible", "judge", str(folder), "--domain", domain, "--out", f"{folder}.csv"]
    subprocess.run(command, check=True, capture_output=True)
    took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("domains", nargs="+")
    options.add_argument("--images", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    for name in chosen.domains:
        domain = load_domain(name)
        data = real_images(domain)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "images"
            folder.mkdir()
            for k, image in enumerate(data.images(some(data, chosen.images))):
                (folder / f"{k}.png").write_bytes(png_bytes(image))
            rounds = [timed(folder, name) for _ in range(chosen.rounds)]
        figures: dict[str, Any] = {
            "company": Judge(domain).company(),
            "images": chosen.images,
            "seconds": [round(took, 2) for took, _ in rounds],
            "median seconds": round(median(took for took, _ in rounds), 2),
            "median processor seconds": round(median(spent for _, spent in rounds), 2),
        }
        write(f"judge_speed_{name}", figures)


if __name__ == "__main__":
    main()
