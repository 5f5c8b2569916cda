"""What the sandbox costs: a deepconv for 28x28 digits as TorchScript, in process and in a worker, 512 images a call.

Run: python benchmarks/sandbox_overhead.py. The claim is a factor of at most 1.3.
Calls alternate between the two, so that a busy machine slows both; the ratio is of the medians.
"""

from __future__ import annotations

import statistics
import tempfile
import time
import warnings
from pathlib import Path

import torch

from foible.classifiers.load import load_classifier
from foible.classifiers.networks import DeepConv
from measure import write

BATCH, ROUNDS = 512, 30


def main() -> None:
    warnings.simplefilter("ignore", DeprecationWarning)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        path = Path(folder) / "deepconv.pt"
        torch.jit.script(DeepConv((1, 28, 28), 10).eval()).save(str(path))
        settings = {"domain": "mnist", "data": "sample", "range": (0, 1)}
        plain = load_classifier(path, **settings)
        begin = time.perf_counter()
        boxed = load_classifier(path, **settings, untrusted=True)
        started = time.perf_counter() - begin
        images = torch.rand(BATCH, 1, 28, 28)
        assert torch.equal(plain(images), boxed(images))
        times: dict[str, list[float]] = {"in process": [], "worker": []}
        for _ in range(ROUNDS):
            for name, classifier in (("in process", plain), ("worker", boxed)):
                begin = time.perf_counter()
                classifier(images)
                times[name].append(time.perf_counter() - begin)
        boxed.close()
    figures: dict[str, float] = {"start_seconds": round(started, 2)}
    for pick in (statistics.median, min):
        inside, outside = pick(times["worker"]), pick(times["in process"])
        word = "median" if pick is statistics.median else "best"
        figures |= {
            f"{word}_ms_in_process": round(1e3 * outside, 1),
            f"{word}_ms_in_worker": round(1e3 * inside, 1),
            f"{word}_ratio": round(inside / outside, 3),
        }
    write("sandbox_overhead", figures)


if __name__ == "__main__":
    main()
