"""Weights and the code that builds the network: a safetensors or state-dict file plus `file.py:factory`."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foible.classifiers.kinds.archive import Content, torch_content, whole_file, whole_model
from foible.classifiers.kinds.exported import plain_tensors_only
from foible.classifiers.network import Facts, ModuleNetwork
from foible.errors import ModelError, RecipeError
from foible.registry import find, from_file, names_a_file, table


class WeightsNetwork(ModuleNetwork):
    """A network built by a function and filled from a file.

    Args:
        path: safetensors, or a state dict saved by torch.
        factory: `file.py:make` (a function or class that gives the torch module) or the name of a built-in network.
        arguments: handed to the factory.
        pickles: allow a whole pickled model, which runs the code inside the file.
    """

    def __init__(
        self,
        path: str,
        factory: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        pickles: bool = False,
    ) -> None:
        tensors = read_weights(Path(path), pickles)
        if isinstance(tensors, nn.Module):
            super().__init__(tensors, Facts(source="the pickled model"))
            return
        if factory is None:
            raise RecipeError(
                f"'{path}' holds bare weights: which network are they for?",
                "add factory = file.py:make (--factory), a function that gives the torch module",
            )
        super().__init__(_filled(_made(factory, arguments or {}), tensors, path, factory), Facts(source=factory))

    @staticmethod
    def files(
        path: str,
        factory: str | None = None,
        arguments: Mapping[str, Any] | None = None,  # noqa: ARG004
        pickles: bool = False,
    ) -> tuple[Path, ...]:
        """The weights and the code; a file that needs unpickling is refused here, before it is opened."""
        whole_file(Path(path))
        if Path(path).suffix != ".safetensors":
            content = torch_content(Path(path))
            if content is not Content.PICKLE:
                raise ModelError(f"'{path}' holds {content}, not a state dict", "leave out the factory")
            if factory is None and not pickles:
                raise pickle_refused(path)
        source = (whole_file(Path(factory.rpartition(":")[0])),) if factory and names_a_file(factory) else ()
        return (Path(path), *source)


def read_weights(path: Path, pickles: bool = False) -> dict[str, Tensor] | nn.Module:
    """Named tensors from a file; a whole model only where pickles are allowed."""
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    try:
        with plain_tensors_only(not pickles):
            loaded = torch.load(path, map_location="cpu", weights_only=not pickles)
    except pickle.UnpicklingError as error:
        raise pickle_refused(str(path)) from error
    except (RuntimeError, EOFError, OSError, ValueError, AttributeError, ImportError) as error:
        raise ModelError(
            f"'{path}' cannot be read: {(str(error).strip() or type(error).__name__).splitlines()[0]}",
            "it may be truncated: save or fetch it again",
        ) from error
    if isinstance(loaded, nn.Module):
        return loaded
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(loaded, dict) and isinstance(loaded.get(key), dict):
            loaded = loaded[key]
    if not isinstance(loaded, dict) or not all(isinstance(v, Tensor) for v in loaded.values()):
        raise ModelError(f"'{path}' holds a {type(loaded).__name__}, expected named tensors", "save model.state_dict()")
    return {k.removeprefix("module."): v for k, v in loaded.items()}


def pickle_refused(path: str) -> ModelError:
    """The error for a file that would run code."""
    what = "a whole model saved with torch.save(model)" if whole_model(Path(path)) else "a pickle"
    return ModelError(
        f"'{path}' is {what} that may run any code when opened: refused",
        "save model.state_dict() as safetensors and name a factory; or, if you trust it, allow pickles (--pickles)",
    )


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"'{path}' cannot be read: {error}", "it may be truncated: save or fetch it again") from error


def _made(factory: str, arguments: Mapping[str, Any]) -> nn.Module:
    if not names_a_file(factory) and factory not in table("networks"):
        raise RecipeError(
            f"factory '{factory}' is neither file.py:name nor one of {', '.join(table('networks'))}",
            "for example net.py:make",
        )
    make = from_file(factory) if names_a_file(factory) else find("networks", factory)
    if isinstance(make, nn.Module):
        return make
    try:
        module = make(**arguments)
    except TypeError as error:
        raise RecipeError(
            f"factory '{factory}' cannot be called: {error}", "give its parameters as arguments"
        ) from error
    except Exception as error:
        raise RecipeError(
            f"factory '{factory}' failed: {type(error).__name__}: {error}", "run it with Python to see more"
        ) from error
    if not isinstance(module, nn.Module):
        raise ModelError(f"factory '{factory}' gave a {type(module).__name__}, expected a torch module")
    return module


def _filled(module: nn.Module, tensors: dict[str, Tensor], path: str, factory: str) -> nn.Module:
    try:
        module.load_state_dict(tensors)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines()[1:3]]
        raise ModelError(
            f"the weights in '{path}' do not fit the network of '{factory}': {' '.join(lines)}",
            "the factory must build the network that was trained",
        ) from error
    return module
