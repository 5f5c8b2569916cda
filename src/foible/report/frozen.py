"""What all results have in common: they do not change, and they can be written as JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that can be written as JSON."""

    model_config = ConfigDict(frozen=True)
