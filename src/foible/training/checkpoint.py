"""Checkpoints: one file beside the model to be, replaced whole after every epoch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from foible.errors import StoreError
from foible.files import replacing


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Replace the checkpoint; the old one stays until the new one is complete."""
    with replacing(path) as partial:
        try:
            torch.save(state, partial)
        except RuntimeError as error:  # torch's word for a disk that is full
            raise StoreError(
                f"the checkpoint '{path}' cannot be written: {error}", "free some space and run the same command again"
            ) from error


def read_checkpoint(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The state that was written with these settings."""
    state: dict[str, Any] = torch.load(path, weights_only=True)
    if state["settings"] != settings:
        raise StoreError(
            f"'{path}' was written with other settings",
            "delete it to start again, or use the settings it was begun with",
        )
    return state
