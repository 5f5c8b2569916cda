"""Digests of files and of live models: what a run is known by when it is resumed."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn


def sha256(path: Path) -> str:
    """Digest of a file, hexadecimal."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def folder_digest(folder: Path) -> str:
    """Digest of all files in a folder, their names and what is in them, hexadecimal."""
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        total.update(f"{path.relative_to(folder).as_posix()} {sha256(path)}\n".encode())
    return total.hexdigest()


def weights_digest(model: Any) -> str:
    """Digest of a live model's weights, or of its code where it shows none."""
    network = getattr(model, "network", None)
    shown = (model, getattr(model, "module", None), network, getattr(network, "module", None))
    module = next((m for m in shown if isinstance(m, nn.Module)), None)
    if module is None:
        return code_digest(model)
    total = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        total.update(name.encode())
        total.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()


def code_digest(thing: Any) -> str:
    """Digest of the name and code of a function or of an object's class, with a word on what it leaves open."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    kind = thing if inspect.isroutine(thing) or inspect.isclass(thing) else type(thing)
    try:
        code = inspect.getsource(kind)
    except (OSError, TypeError):  # typed into an interpreter, or not written in Python
        compiled = getattr(kind, "__code__", None)
        code = "" if compiled is None else _compiled(compiled)
    digest = hashlib.sha256(f"{kind.__qualname__}\n{code}".encode()).hexdigest()
    return f"{digest} of its code; what it holds or reads cannot be checked"


def endpoint_digest(url: str, settings: Mapping[str, Any]) -> str:
    """Digest of an address and of what is sent to it, with a word on what it leaves open."""
    said = json.dumps([url, dict(settings)], sort_keys=True, default=str)
    return (
        f"{hashlib.sha256(said.encode()).hexdigest()} of its address and settings; what answers there cannot be checked"
    )


def _compiled(code: Any) -> str:
    """Compiled code as text that is the same in every process, the code inside it too."""
    constants = [_compiled(c) if inspect.iscode(c) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"
