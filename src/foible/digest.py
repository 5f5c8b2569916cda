"""Digests of files and of live models."""

from __future__ import annotations

import hashlib
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
    """Digest of a live model's weights, or "unknown" where it shows none."""
    module = next(
        (
            m
            for m in (model, getattr(model, "module", None), getattr(model, "network", None))
            if isinstance(m, nn.Module)
        ),
        None,
    )
    if module is None:
        return "unknown"
    total = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        total.update(name.encode())
        total.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()
