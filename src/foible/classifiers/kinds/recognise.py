"""Which kind of model a reference names: by its scheme, its suffix, and for torch files by what is inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from foible.classifiers.kinds.archive import Content, torch_content
from foible.classifiers.kinds.function import is_function_on_arrays
from foible.errors import ModelError, RecipeError
from foible.registry import names_a_file, table

TORCH = {".pt", ".pth", ".pt2", ".jit", ".ts", ".torchscript", ".bin", ".ckpt", ".pkl", ".pickle"}
HUBS = ("timm:", "torchvision:", "hf:")


@dataclass(frozen=True)
class Reference:
    """A kind and the first of its settings."""

    kind: str
    settings: dict[str, Any]
    name: str


def is_own_model(reference: str, settings: Mapping[str, Any]) -> bool:
    """Whether this names a model of the user's own rather than one of the zoo or a Python component."""
    return (
        reference in table("kinds")
        or "factory" in settings
        or reference.startswith(("http://", "https://", *HUBS))
        or Path(reference).suffix.lower() in TORCH | {".onnx"}
        or is_function_on_arrays(reference)
    )


def recognise(reference: str, settings: Mapping[str, Any]) -> Reference:
    """The kind of model a reference names, and the setting it stands for."""
    if reference in table("kinds"):
        named = next((settings[k] for k in ("path", "function", "url", "name") if k in settings), reference)
        return Reference(reference, {}, _short(str(named)))
    if reference.startswith(("http://", "https://")):
        return Reference("http", {"url": reference}, _short(reference))
    if reference.startswith(HUBS):
        return Reference("hub", {"name": reference}, _short(reference))
    if names_a_file(reference):
        return Reference("function", {"function": reference}, _short(reference))
    path = Path(reference)
    if "factory" in settings:
        return Reference("weights", {"path": reference}, path.stem)
    if path.suffix.lower() == ".onnx":
        return Reference("onnx", {"path": reference}, path.stem)
    if path.suffix.lower() == ".safetensors":
        return Reference("weights", {"path": reference}, path.stem)
    if path.suffix.lower() in TORCH:
        return Reference(_torch_kind(path), {"path": reference}, path.stem)
    raise RecipeError(
        f"'{reference}' is no model foible knows how to load",
        "give a .pt, .pt2, .onnx or .safetensors file, timm:NAME, torchvision:NAME, hf:NAME, file.py:predict, or a URL",
    )


def _torch_kind(path: Path) -> str:
    content = torch_content(path)
    if content is Content.NATIVE:
        raise ModelError(f"'{path}' holds {content}: refused", "export the model with torch.export.save")
    if content is Content.PICKLE and path.suffix.lower() == ".pt2":
        raise ModelError(
            f"'{path}' is no exported program: it is damaged, or was saved otherwise", "save it with torch.export.save"
        )
    return {Content.TORCHSCRIPT: "torchscript", Content.EXPORTED: "exported", Content.PICKLE: "weights"}[content]


def _short(text: str) -> str:
    """A name for reports: the last part of a path, address or hub name."""
    if names_a_file(text):
        path, _, name = text.rpartition(":")
        return f"{Path(path).stem}-{name}"
    if text.startswith(("http://", "https://")):
        parts = urlsplit(text)
        return Path(parts.path).name.partition(":")[0] or parts.hostname or text
    return Path(text.split("?")[0].rstrip("/").rpartition(":")[2]).name.removesuffix(Path(text).suffix) or text
