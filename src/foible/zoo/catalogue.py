"""The catalogue: one card (TOML) beside every weights file."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from foible.digest import sha256
from foible.errors import ModelError, RecipeError, did_you_mean

WEIGHTS = Path(__file__).parent / "weights"


class Entry(BaseModel):
    """A model of the zoo as its card describes it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    file: str
    sha256: str
    bytes: int
    parameters: int
    data: str
    licence: str
    training_seconds: float
    figures: dict[str, float]
    recipe: dict[str, Any]

    @property
    def family(self) -> str:
        """What kind of model it is, as in its training recipe."""
        return str(self.recipe["family"])

    @property
    def role(self) -> str:
        """The registry table it belongs to."""
        return {"classifier": "classifiers", "judge": "validators"}.get(self.family, "generators")

    @property
    def domain(self) -> str:
        """The domain it was trained on."""
        return str(self.recipe["domain"])

    def path(self) -> Path:
        """The weights file, after its digest has been checked."""
        path = WEIGHTS / self.file
        if not path.is_file():
            raise ModelError(
                f"the weights of '{self.name}' are not installed",
                f"train them: foible train {self.family} --domain {self.domain} --out {self.file}",
            )
        if _digest(path) != self.sha256:
            raise ModelError(
                f"the weights of '{self.name}' are damaged: their sha256 differs from the card", "install foible again"
            )
        return path


@cache
def _digest(path: Path) -> str:
    return sha256(path)


@cache
def entries() -> dict[str, Entry]:
    """All models of the zoo by name."""
    return {p.stem: Entry(name=p.stem, **tomllib.loads(p.read_text())) for p in sorted(WEIGHTS.glob("*.toml"))}


def entry(name: str) -> Entry:
    """One model of the zoo."""
    if name not in entries():
        raise RecipeError(f"the zoo has no model '{name}'", did_you_mean(name, entries()))
    return entries()[name]
