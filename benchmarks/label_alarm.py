"""The label alarm on purpose: MNIST networks trained on swapped labels, with and without a clean twin.

Kang, Feldt, Yoo (SINVAD, TOSEM 2024), RQ3: every training image of a pair swaps its label with probability alpha. Here
LeNet-5, three training seeds for each of three pairs and six levels; all networks of a seed share initial weights and order.
Stages, each going on where it stopped: `train`, `pair` (escapes between the two classes, for the curve and the twin), `alarm`
(all pairs at 3 % and 0 %, without a twin, and the relabel candidates), `table`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from foible.domains import load_domain, real_images
from foible.domains.images import ImageArray
from foible.training.classifier import ClassifierLearner
from foible.training.fit import fit
from foible.training.settings import FitSettings
from foible.zoo.files import save_model

PAIRS = ((0, 1), (2, 5), (6, 7))
LEVELS = (0.0, 0.01, 0.02, 0.03, 0.06, 0.1)
SEEDS = (0, 1, 2)
IMAGES = 20_000  # of the training set: a training takes seconds
FIT = FitSettings(epochs=3, batch=128, learning_rate=3e-3)


def polluted(labels: Tensor, pair: tuple[int, int], level: float, seed: int) -> Tensor:
    """Labels in which those of a pair have been exchanged, each with this probability."""
    rng = torch.Generator().manual_seed(1000 + seed)
    swap = torch.rand(len(labels), generator=rng) < level
    a, b = pair
    other = torch.where(labels == a, b, torch.where(labels == b, a, labels))
    return torch.where(swap, other, labels)


def cases() -> list[tuple[tuple[int, int], float, int]]:
    """Every network: the clean ones stand for all pairs and are listed once, under the first."""
    return [(pair, level, seed) for seed in SEEDS for level in LEVELS for pair in (PAIRS if level else PAIRS[:1])]


def model_path(folder: Path, pair: tuple[int, int], level: float, seed: int) -> Path:
    """Where a network lies."""
    name = f"{pair[0]}{pair[1]}-{level:g}-{seed}" if level else f"clean-{seed}"
    return folder / f"{name}.safetensors"


def train(folder: Path, until: float) -> None:
    """Train what is not there yet."""
    domain = load_domain("mnist")
    data = real_images(domain, None, "train")
    assert isinstance(data, ImageArray)
    data = ImageArray(data.source, data.pixels[:IMAGES], data.labels[:IMAGES])
    for pair, level, seed in cases():
        path = model_path(folder, pair, level, seed)
        if path.is_file() or time.monotonic() > until:
            continue
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            learner = ClassifierLearner(domain, "lenet5")
        labels = polluted(data.labels, pair, level, seed)
        history = fit(learner, ImageArray(data.source, data.pixels, labels), FIT.model_copy(update={"seed": seed}))
        path.parent.mkdir(parents=True, exist_ok=True)
        save_model(path, learner.header(), learner.tensors(data))
        np.save(path.with_suffix(".npy"), labels.numpy().astype(np.uint8))
        print(
            path.name, f"{history.seconds:.1f} s", {k: round(v, 4) for k, v in history.epochs[-1].items()}, flush=True
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("stage", choices=["train", "pair", "alarm", "table"])
    arguments.add_argument("--folder", type=Path, default=Path("label-runs"))
    arguments.add_argument("--seconds", type=float, default=3600)
    chosen = arguments.parse_args()
    until = time.monotonic() + chosen.seconds
    {"train": train}[chosen.stage](chosen.folder, until)


if __name__ == "__main__":
    main()
