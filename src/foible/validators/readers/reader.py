"""What a reader is, and which ones are installed.

A reader is any recogniser with a way from what it knows to the domain's classes. Its weights come inside a package of the
extra `judge`; where the package is not installed, the judge does without and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from foible.errors import MissingExtra, ModelError, RecipeError, did_you_mean
from foible.registry import find, table
from foible.types import Images


@dataclass(frozen=True)
class Reading:
    """What a reader makes of images: log-probability of every class (N, classes), and two signs of a valid image (N,).

    `sees` is how surely it sees something of the domain, `anything` how surely it sees anything of the kind it knows.
    `names` (N,) is the class it would name, -1 where it would name none.
    """

    classes: Tensor
    sees: Tensor
    anything: Tensor
    names: Tensor


class Reader(Protocol):
    """A recogniser of other origin. It must give an image the same answer in any company."""

    name: str  # as verdicts call it
    digests: Mapping[str, str]  # its file and sha256
    learns: bool  # whether `read` needs what was fitted for the domain (`training.readers`)

    def look(self, images: Images) -> Tensor:
        """What it makes of each image, by itself (N, size)."""
        ...

    def read(self, seen: Tensor, learnt: Mapping[str, Tensor]) -> Reading:
        """What that says of the domain's classes."""
        ...


def reader(key: str, classes: tuple[str, ...]) -> Reader:
    """A reader by its registered name; MissingExtra where its package is not installed."""
    if key not in table("readers"):
        raise RecipeError(f"no reader is called '{key}'", did_you_mean(key, table("readers")))
    return _open(key, classes)


@cache
def _open(key: str, classes: tuple[str, ...]) -> Reader:
    opened: Any = find("readers", key)(classes)
    made: Reader = opened
    return made


def available(keys: Iterable[str]) -> tuple[str, ...]:
    """Those of the readers whose packages are installed."""
    return tuple(k for k in keys if k in table("readers") and all(map(find_spec, find("readers", k).packages)))


def missing(keys: Iterable[str]) -> tuple[str, ...]:
    """Those of the readers that cannot be used here."""
    keys = tuple(keys)
    here = available(keys)
    return tuple(k for k in keys if k not in here)


def package_file(package: str, relative: str, purpose: str) -> Path:
    """A file inside an installed package, found without importing it: its own code would bring in far more."""
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise MissingExtra(package.replace("_", "-"), "judge", purpose)
    path = Path(spec.submodule_search_locations[0]) / relative
    if not path.is_file():
        raise ModelError(
            f"the package '{package}' has no '{relative}'", "install the version that constraints.txt names"
        )
    return path
