"""The pairs of models that differences are looked for between, trained here where the zoo has none.

Three LeNet-5s on MNIST, one epoch each in batches of 32: by plain gradient descent (rate 0.01), by Adam (rate 0.001), and by
Adam on the first half of the training images. They are made once, into a folder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foible.domains import load_domain, real_images
from foible.registry import build
from foible.zoo.files import Header, save_model

EPOCHS, BATCH = 1, 32
MADE: dict[str, tuple[Callable[[Any], torch.optim.Optimizer], int]] = {
    "sgd": (lambda p: torch.optim.SGD(p, lr=0.01), 60_000),
    "adam": (lambda p: torch.optim.Adam(p, lr=1e-3), 60_000),
    "half": (lambda p: torch.optim.Adam(p, lr=1e-3), 30_000),
}


def pairs(folder: Path) -> dict[str, tuple[Any, Any]]:
    """A and B of each pair, as a recipe names them; `folder` holds the LeNet-5s."""
    paths = {name: str(folder / f"{name}.safetensors") for name in MADE}
    floats = "mnist-deepconv"
    return {
        "int8-weights": (floats, {"use": floats, "variant": "int8-weights"}),
        "float16": (floats, {"use": floats, "variant": "float16"}),
        "structure": (floats, "mnist-lenet5"),
        "optimiser": (paths["sgd"], paths["adam"]),
        "training data": (paths["adam"], paths["half"]),
    }


def make_models(folder: Path) -> None:
    """Train the LeNet-5s that are not there yet."""
    for seed, (name, (optimiser, count)) in enumerate(MADE.items()):
        path = folder / f"{name}.safetensors"
        if not path.is_file():
            _train(path, optimiser, count, seed)


def _train(path: Path, optimiser: Callable[[Any], torch.optim.Optimizer], count: int, seed: int) -> None:
    domain = load_domain("mnist")
    data = real_images(domain, None, "train")
    config = {"shape": list(domain.shape), "classes": len(domain.classes)}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network: nn.Module = build("networks", "lenet5", config)
        steps = optimiser(network.parameters())
        for _ in range(EPOCHS):
            for rows in torch.randperm(count).split(BATCH):
                loss = nn.functional.cross_entropy(network(data.images(rows)), data.labels[rows])
                steps.zero_grad()
                loss.backward()
                steps.step()
    header = {"network": "lenet5", "network_config": config, "classes": list(domain.classes)}
    save_model(
        path,
        Header(role="classifiers", family="module", domain="mnist", config=header | {"mean": [0.0], "std": [1.0]}),
        network.state_dict(),
        torch.float32,
    )
    print(path.stem, f"{_right(network):.4f} right on the test set", flush=True)


@torch.inference_mode()
def _right(network: nn.Module) -> float:
    data = real_images(load_domain("mnist"), None)
    rows: list[Tensor] = [network(data.images(i)).argmax(1) == data.labels[i] for i in torch.arange(10_000).split(500)]
    return float(torch.cat(rows).float().mean())
