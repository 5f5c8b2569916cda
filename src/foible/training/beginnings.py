"""Weights to start from: packages of the registry that carry what a network learnt on photographs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import torch
from torch import nn

from foible.errors import MissingExtra, RecipeError


def start_from(network: nn.Module, package: str) -> None:
    """Give a network the weights in an installed package, which is needed for training alone.

    Args:
        network: one with a method `start_from`.
        package: its import name; the weights are the one `.pth` file under its `models` folder.
    """
    if not hasattr(network, "start_from"):
        raise RecipeError(
            f"a network '{type(network).__name__}' starts from nothing", "leave start out, or use efficientnet_lite"
        )
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(package.replace("_", "-"), "training", "a network that starts from learnt weights")
    files = sorted((Path(spec.submodule_search_locations[0]) / "models").glob("*.pth"))
    if len(files) != 1:
        raise RecipeError(f"the package '{package}' has {len(files)} files models/*.pth, expected 1", "name another")
    network.start_from(torch.load(files[0], weights_only=True))  # type: ignore[operator]
