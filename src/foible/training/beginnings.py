"""Weights to start from: a trained model's, or those of a package that carries what a network learnt on photographs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import torch
from torch import nn

from foible.errors import MissingExtra, RecipeError
from foible.generators.stored import network_tensors
from foible.zoo.catalogue import entries
from foible.zoo.files import read_model_file


def start_from(network: nn.Module, source: str) -> None:
    """Give a network the weights of a model, whose training goes on, or of an installed package.

    Args:
        network: the one to be trained; one with a method `start_from` for a package.
        source: a zoo name or model file of the same network, or the import name of a package, which is needed for
            training alone: the weights are the one `.pth` file under its `models` folder.
    """
    if source in entries() or source.endswith(".safetensors"):
        _go_on(network, entries()[source].path() if source in entries() else Path(source))
        return
    if not hasattr(network, "start_from"):
        raise RecipeError(
            f"a network '{type(network).__name__}' starts from nothing", "leave start out, or use efficientnet_lite"
        )
    spec = find_spec(source)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(source.replace("_", "-"), "training", "a network that starts from learnt weights")
    files = sorted((Path(spec.submodule_search_locations[0]) / "models").glob("*.pth"))
    if len(files) != 1:
        raise RecipeError(f"the package '{source}' has {len(files)} files models/*.pth, expected 1", "name another")
    network.start_from(torch.load(files[0], weights_only=True))  # type: ignore[operator]


def _go_on(network: nn.Module, path: Path) -> None:
    try:
        network.load_state_dict(network_tensors(read_model_file(path)[1]))
    except RuntimeError as error:
        raise RecipeError(
            f"the weights in '{path}' are of another network: {str(error).splitlines()[-1].strip()}",
            "name a model of the same network and settings",
        ) from error
