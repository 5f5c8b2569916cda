"""The catalogue: one card (TOML) per model, of those that come with foible and of the user's own zoo.

A card may be there without its weights: the larger ones are left out of the wheel. A file of that name in the user's
zoo fills the place if its digest is the card's; a card there goes before the one that comes with foible.
"""

from __future__ import annotations

import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, ValidationError

from foible.digest import folder_digest, sha256
from foible.domains import domain_names, load_domain
from foible.errors import ModelError, RecipeError, did_you_mean
from foible.zoo.trainable import role_of, train_command, trainable

WEIGHTS = Path(__file__).parent / "weights"


def own_zoo() -> Path:
    """The user's zoo: `$FOIBLE_ZOO`, or a folder among the user's data."""
    named = os.environ.get("FOIBLE_ZOO")
    return Path(named).expanduser() if named else user_data_path("foible") / "zoo"


class Entry(BaseModel):
    """A model of the zoo as its card describes it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    folder: Path = WEIGHTS  # where the card is
    file: str
    sha256: str
    bytes: int
    parameters: int
    data: str
    licence: str
    training_seconds: float
    figures: dict[str, float]
    recipe: dict[str, Any]
    settings: dict[str, Any] | None = None  # of a model in a folder of the user's; None = weights in one file

    @property
    def family(self) -> str:
        """What kind of model it is, as in its training recipe."""
        return str(self.recipe["family"])

    @property
    def role(self) -> str:
        """The registry table it belongs to."""
        return role_of(self.family)

    @property
    def domain(self) -> str:
        """The domain it was trained on."""
        return str(self.recipe["domain"])

    @property
    def card(self) -> Path:
        """The card's file."""
        return self.folder / f"{self.name}.toml"

    @property
    def weights(self) -> Path | None:
        """The weights, where they are here: a file beside the card or in the user's zoo, or a folder anywhere."""
        if self.settings is not None:
            return Path(self.file) if Path(self.file).is_dir() else None
        return next((p for p in (self.folder / self.file, own_zoo() / self.file) if p.is_file()), None)

    def path(self) -> Path:
        """The weights, after their digest has been checked."""
        path = self.weights
        if path is None and self.settings is not None:
            raise ModelError(
                f"the folder of '{self.name}' is gone: '{self.file}'", "add it again: foible zoo add FOLDER"
            )
        if path is None:
            raise not_installed(self.name, self.role)
        if _digest(path, path.stat().st_mtime_ns) != self.sha256:
            raise ModelError(
                f"the weights of '{self.name}' are damaged: the sha256 of '{path}' differs from the card",
                "add it again: foible zoo add FOLDER"
                if path.is_dir()
                else "remove the file; then install foible again or train the model anew",
            )
        return path


def cards() -> dict[str, Entry]:
    """All cards by name, whether the weights are here or not."""
    found = [path for folder in (WEIGHTS, own_zoo()) for path in sorted(folder.glob("*.toml"))]
    return {path.stem: _read(path, path.stat().st_mtime_ns) for path in found}


def entries() -> dict[str, Entry]:
    """The models that can be used here, by name, in the order in which they are offered.

    A domain's own generator and classifier come before others and references last; quick generators before slow ones.
    """
    ranks = _ranks()
    here = (card for card in cards().values() if card.weights)
    offered = sorted(here, key=lambda e: (ranks.get(e.name, 1), e.figures.get("decode_ms", 0.0), e.name))
    return {card.name: card for card in offered}


def entry(name: str) -> Entry:
    """One model of the zoo."""
    known = cards()
    if name not in known and name in trainable():
        raise not_installed(name, trainable()[name].role)
    if name not in known:
        raise RecipeError(f"the zoo has no model '{name}'", did_you_mean(name, {**known, **trainable()}))
    return known[name]


def not_installed(name: str, role: str) -> ModelError:
    """What to say of a model whose weights are not here: how to get them, and how to do without."""
    known, wanted = cards().get(name), trainable().get(name)
    command = wanted.command if wanted else train_command(known.family, known.domain) if known else "foible train"
    published = f", or copy {known.file} from foible's repository to it" if known else ""
    return ModelError(
        f"the weights of '{name}' are not installed",
        f"train them into your zoo ({own_zoo()}): {command}{published}; "
        f"or use another model: --{role.removesuffix('s')} FILE.safetensors",
    )


@cache
def _ranks() -> dict[str, int]:
    """0 for the default generator and classifier of a domain, 2 for its references; whatever else has 1."""
    domains = [load_domain(name) for name in domain_names()]
    defaults = {name: 0 for d in domains for name in (d.generator, d.classifier) if name}
    return {**defaults, **{name: 2 for d in domains for name in d.references}}


@cache
def _digest(path: Path, changed: int) -> str:  # noqa: ARG001  # a file that changed has another digest
    return folder_digest(path) if path.is_dir() else sha256(path)


@cache
def _read(path: Path, changed: int) -> Entry:  # noqa: ARG001
    try:
        return Entry(name=path.stem, folder=path.parent, **tomllib.loads(path.read_text()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        raise ModelError(f"the card '{path}' is wrong: {error}", "put it right or remove it") from error
