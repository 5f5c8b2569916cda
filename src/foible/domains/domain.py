"""A domain is data: image shape, class names, and where real images come from.

Built-in domains are the TOML files beside this one. A user's own is a TOML file of the same form, or simply a
class-per-folder tree of images.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foible.domains.folder import class_folders, first_image_shape
from foible.errors import RecipeError, did_you_mean

HERE = Path(__file__).parent


class Domain(BaseModel):
    """What images a classifier is for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str = ""
    shape: Annotated[tuple[int, int, int], Field(description="channels, height, width")]
    classes: tuple[str, ...]
    file: str | None = None
    library: str | None = None
    sample: str | None = None
    folder: str | None = None
    resize: bool = False
    partial: bool = False  # a tree of images may hold some of the classes only
    licence: str = ""
    generator: str | None = None  # the zoo's default maker of images
    classifier: str | None = None  # the zoo's default system under test
    references: tuple[str, ...] = ()  # the judge's networks: never the system under test by default
    readers: tuple[str, ...] = ()  # recognisers of other origin that the judge asks where they are installed
    judge: str | None = None  # which failures count: a zoo name or a model file

    def class_index(self, text: str) -> int:
        """The index of a class given by name or number."""
        if text in self.classes:
            return self.classes.index(text)
        if text.isdigit() and int(text) < len(self.classes):
            return int(text)
        raise RecipeError(f"domain '{self.name}' has no class '{text}'", did_you_mean(text, self.classes))


def domain_names() -> list[str]:
    """The built-in domains."""
    return sorted(p.stem for p in HERE.glob("*.toml"))


def load_domain(reference: str | Path) -> Domain:
    """A domain by name, by the path of its TOML file, or by a class-per-folder tree of images.

    A name goes before a folder that is called the same where one happens to be; "./mnist" is the folder.
    """
    if reference in domain_names():
        return _from_toml(HERE / f"{reference}.toml", HERE)
    path = Path(reference)
    if path.is_dir():
        return _from_tree(path)
    if path.suffix == ".toml":
        if not path.is_file():
            raise RecipeError(
                f"no domain file '{path}'",
                "give a TOML file, a folder with one subfolder per class, or a name: " + ", ".join(domain_names()),
            )
        return _from_toml(path, path.parent)
    raise RecipeError(f"no domain is called '{reference}'", did_you_mean(str(reference), domain_names()))


def _from_toml(path: Path, base: Path) -> Domain:
    try:
        facts = tomllib.loads(path.read_text())
        if folder := facts.get("folder"):
            facts["folder"] = str(base / folder)
        facts["references"] = [_beside(base, r) for r in facts.get("references", [])]
        if judge := facts.get("judge"):
            facts["judge"] = _beside(base, judge)
        return Domain(name=path.stem, **facts)
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise RecipeError(
            f"domain file '{path}' is wrong: {error}", "compare it with docs/adding-a-domain.md"
        ) from error


def _beside(base: Path, model: str) -> str:
    """A model by its zoo name, or by a file that is named relative to the domain file."""
    return str(base / model) if model.endswith(".safetensors") else model


def _from_tree(path: Path) -> Domain:
    classes = tuple(p.name for p in class_folders(path))
    return Domain(
        name=path.resolve().name,
        title=f"images in {path}",
        shape=first_image_shape(path),
        classes=classes,
        folder=str(path),
    )
