"""The way to diffusers: every generator that needs it asks here, so that a missing extra is reported in one voice."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from foible.domains.library import import_torchvision
from foible.errors import MissingExtra


def import_diffusers(purpose: str) -> Any:
    """diffusers, imported on first use.

    Args:
        purpose: what it is needed for, as the error says it.
    """
    with suppress(MissingExtra):
        import_torchvision()  # diffusers meets it through transformers; a mismatched build must be put right before
    try:
        import diffusers
    except ImportError:
        raise MissingExtra("diffusers", "diffusion", purpose) from None
    return diffusers
