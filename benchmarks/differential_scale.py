"""What a regression corpus costs to replay, and what a hundred thousand disagreements cost in memory.

    python differential_scale.py corpus --folder F     # 500 disagreements of mnist-deepconv and its int8 weights, replayed by the command
    python differential_scale.py memory --count 100000 # toy models, whose disagreements are everywhere: nothing but bookkeeping

Memory is what the process holds (resident set) after every 5,000 disagreements of one search, archive included.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch

import foible
from foible.differing.corpus import Corpus, corpus_of, load_corpus
from foible.domains import load_domain
from foible.testing import toys
from foible.testing.toys import toy_recipe, write_toy_images
from foible.types import RIVAL
from measure import write

A = "mnist-deepconv"
VARIANT = "int8-weights"


def corpus(folder: Path, count: int, repeats: int) -> dict[str, Any]:
    """Find disagreements, keep so many, and time the command that asks both models again."""
    file = folder / "corpus.npz"
    if not file.is_file():
        recipe = {
            "domain": "mnist",
            "generator": "mnist-gan",
            "classifier": A,
            "classifiers": {RIVAL: {"use": A, "variant": VARIANT}},
            "search": "frontier",
            "attempts": count // 6,
            "validators": [],
            "baseline": {"attempts": 0},
            "engine": {"chunk": 32},
        }
        made, _ = corpus_of(foible.run(recipe, folder / "run"), (A, f"{A}-{VARIANT}"))
        most = np.arange(min(count, len(made)))
        rows = torch.from_numpy(most)
        parts = (made.images[most], made.expected[rows], made.tested[rows], made.rival[rows])
        Corpus(*parts, made.classes, made.names).save(file)
    about = load_domain("mnist")
    images = len(load_corpus(file, about.classes, about.shape))
    command = [
        sys.executable,
        "-m",
        "foible",
        "diff",
        A,
        "--variant",
        VARIANT,
        "--domain",
        "mnist",
        "--corpus",
        str(file),
    ]
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        done = subprocess.run(
            [*command, "--fail-if", "corpus_changed_b > 0"], capture_output=True, text=True, check=False
        )
        times.append(time.perf_counter() - begin)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
    return {"images": images, "seconds": statistics.median(times), "all": times}


def memory(count: int) -> dict[str, Any]:
    """Resident memory while one search keeps every disagreement."""
    process, marks = psutil.Process(), []
    rival = {"use": f"{Path(toys.__file__)}:ToyClassifier", "name": "rival", "bias": 4.0}

    def listen(now: Any) -> None:
        if now.found >= 5000 * (len(marks) + 1):
            marks.append([now.found, round(process.memory_info().rss / 2**20, 1)])
            print(marks[-1], flush=True)
        if now.found >= count:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as place:
        images = write_toy_images(Path(place) / "toys")
        facts = toy_recipe(images, attempts=1, baseline={"attempts": 0}, validators=[])
        facts |= {
            "classifiers": {RIVAL: rival},
            "search": {"use": "nsga2", "population": 100, "look": [1, 6, 6], "least": 0.0},
            "objective": {"use": "divergence", "look": [1, 6, 6]},
            "budget": {"evaluations": 10**9},
            "engine": {"chunk": 128, "lanes": 1},
        }
        foible.run(facts, Path(place) / "run", listen=listen)
    return {"found": marks[-1][0] if marks else 0, "megabytes": marks}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["corpus", "memory"])
    arguments.add_argument("--folder", type=Path, default=Path("runs/corpus"))
    arguments.add_argument("--count", type=int, default=None)
    arguments.add_argument("--repeats", type=int, default=5)
    chosen = arguments.parse_args()
    if chosen.what == "corpus":
        write("differential_corpus", corpus(chosen.folder, chosen.count or 500, chosen.repeats))
    else:
        write("differential_memory", memory(chosen.count or 100_000))


if __name__ == "__main__":
    main()
