"""A model file describes itself: safetensors weights and a header with everything needed to rebuild the model.

The header is JSON under the metadata key "foible". Loading runs no code from the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from foible.errors import ModelError, RecipeError, did_you_mean
from foible.files import replacing
from foible.registry import find, table


class Header(BaseModel):
    """What a model file says about itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = 1
    role: str  # the registry table of the family: "generators" or "classifiers"
    family: str
    domain: str
    config: dict[str, Any]


def save_model(path: Path, header: Header, tensors: Mapping[str, Tensor], dtype: torch.dtype = torch.float16) -> None:
    """Write a model file; floating-point weights are stored in half precision unless told otherwise."""
    stored = {k: v.detach().to(dtype if v.is_floating_point() else v.dtype).contiguous() for k, v in tensors.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        save_file(stored, partial, metadata={"foible": header.model_dump_json()})
        partial.chmod(0o644)  # safetensors keeps its files from others


def read_model_file(path: Path) -> tuple[Header, dict[str, Tensor]]:
    """Header and float32 tensors of a model file."""
    if not path.is_file():
        raise ModelError(
            f"no model file '{path}'", "check the path, or see `foible ls zoo` for the models that come with foible"
        )
    try:
        with safe_open(path, framework="pt") as opened:
            metadata = opened.metadata() or {}
            tensors = {k: opened.get_tensor(k) for k in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(
            f"model file '{path}' cannot be read: {error}", "it may be truncated: fetch or train it again"
        ) from error
    if "foible" not in metadata:
        raise ModelError(
            f"'{path}' has no foible header",
            "it holds bare weights: files written by `foible train` describe themselves",
        )
    try:
        header = Header(**json.loads(metadata["foible"]))
    except (ValidationError, ValueError) as error:
        raise ModelError(
            f"the header of '{path}' is not understood: {error}", "it may come from a newer foible"
        ) from error
    return header, {k: v.float() if v.is_floating_point() else v for k, v in tensors.items()}


def load_model(path: Path, role: str, name: str | None = None, settings: Mapping[str, Any] | None = None) -> Any:
    """The generator or classifier stored in a file.

    Args:
        path: a safetensors file written by `foible train`.
        role: "generators" or "classifiers": what the caller expects the file to be.
        name: what to call it; the file's stem by default.
        settings: what may be chosen anew each time, such as the steps of a diffusion model.
    """
    header, tensors = read_model_file(path)
    if header.role != role:
        raise ModelError(
            f"'{path}' is one of the {header.role}, expected one of the {role}", "swap the two in the recipe?"
        )
    if header.family not in table(role):
        raise ModelError(
            f"'{path}' is of the unknown family '{header.family}'", did_you_mean(header.family, table(role))
        )
    kind, settings = find(role, header.family), settings or {}
    offered: frozenset[str] = getattr(kind, "settings", frozenset())
    for setting in settings:
        if setting not in offered:
            raise RecipeError(
                f"'{name or path.stem}' is a model file of the family '{header.family}' without a setting '{setting}'",
                did_you_mean(setting, offered) if offered else "it takes none: remove it from the recipe",
            )
    try:
        return kind.from_weights(name or path.stem, header.config, tensors, **settings)
    except (RuntimeError, KeyError, TypeError) as error:
        raise ModelError(
            f"the weights in '{path}' do not fit its header: {error}", "the file is damaged or from another version"
        ) from error
