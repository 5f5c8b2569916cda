"""Fetching the images of a built-in domain, when asked to: through torchvision, which checks what it downloads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_data_path

from foible.domains.domain import Domain
from foible.domains.library import import_torchvision
from foible.errors import DataError, did_you_mean
from foible.files import replacing


@dataclass(frozen=True)
class Source:
    """A dataset of torchvision: its name, what it wants to be told for a split, and how its arrays differ from ours.

    Attributes:
        name: in `torchvision.datasets`.
        asks: the arguments for "train" or "test".
        turned: its images lie on their side (rows are columns).
        first: the number of its first class.
    """

    name: str
    asks: Callable[[str], dict[str, Any]] = lambda split: {"train": split == "train"}
    turned: bool = False
    first: int = 0


FETCHED: Final[Mapping[str, Source]] = {
    "mnist": Source("MNIST"),
    "fashion": Source("FashionMNIST"),
    "emnist": Source("EMNIST", lambda split: {"split": "letters", "train": split == "train"}, turned=True, first=1),
    "cifar10": Source("CIFAR10"),
    "svhn": Source("SVHN", lambda split: {"split": split}),
}


def own_data_folder() -> Path:
    """Where fetched images go: `$FOIBLE_DATA`, or a folder of the user's."""
    named = os.environ.get("FOIBLE_DATA")
    return Path(named) if named else user_data_path("foible") / "data"


def how_to_get(domain: Domain) -> str:
    """What to do where real images are missing."""
    fetch = f"fetch them: foible data get {domain.name}; or " if domain.name in FETCHED else ""
    return f"{fetch}name a folder with --data, or set FOIBLE_DATA"


def fetch(domain: Domain, folder: Path | None = None) -> Path:
    """Download a domain's images and store them as one npz file; gives its path.

    Args:
        domain: a built-in one.
        folder: where the file goes; `own_data_folder()` by default.
    """
    if domain.name not in FETCHED or domain.file is None:
        raise DataError(f"foible cannot fetch images of '{domain.name}'", did_you_mean(domain.name, FETCHED))
    target = (folder or own_data_folder()) / domain.file
    datasets = import_torchvision().datasets
    with tempfile.TemporaryDirectory(prefix="foible-data-") as scratch:
        arrays: dict[str, NDArray[Any]] = {}
        for split in ("train", "test"):
            arrays[f"x_{split}"], arrays[f"y_{split}"] = _split(datasets, domain, scratch, split)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as partial, partial.open("wb") as opened:
        np.savez_compressed(opened, allow_pickle=False, **arrays)
    return target


def _split(datasets: Any, domain: Domain, scratch: str, split: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    source = FETCHED[domain.name]
    try:
        dataset = getattr(datasets, source.name)(scratch, download=True, **source.asks(split))
    except (OSError, RuntimeError, ValueError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise DataError(
            f"the images of '{domain.name}' could not be fetched: {reason}",
            "is there a network? On another machine: foible data get, then copy the file into a data folder here",
        ) from error
    pixels = np.asarray(dataset.data, dtype=np.uint8)
    labels = np.asarray(getattr(dataset, "labels", getattr(dataset, "targets", None))).astype(np.int64)
    return pixels.swapaxes(1, 2) if source.turned else pixels, labels - source.first
