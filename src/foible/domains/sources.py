"""Where the real images of a domain come from, in order.

1. the folder or file the user names; 2. the domain's own folder; 3. the domain's file or 4. its torchvision download
in a data folder (`$FOIBLE_DATA`, `./data`, and beside a source checkout `../shared/data`);
5. the sample shipped with foible.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from foible.domains.arrays import read_npz
from foible.domains.domain import HERE, Domain
from foible.domains.fetch import how_to_get, own_data_folder
from foible.domains.folder import ImageFolder
from foible.domains.images import RealImages
from foible.domains.library import in_library, read_library
from foible.errors import DataError

CHECKOUT = HERE.parents[2]


def data_folders() -> list[Path]:
    """Folders that may hold dataset files, best first."""
    named = [Path(os.environ["FOIBLE_DATA"])] if os.environ.get("FOIBLE_DATA") else []
    return [p for p in [*named, Path("data"), own_data_folder(), CHECKOUT.parent / "shared" / "data"] if p.is_dir()]


def real_images(domain: Domain, where: str | Path | None = None, split: str = "test") -> RealImages:
    """Real labelled images of a domain, from the first source that has them.

    Args:
        domain: what the images must look like.
        where: a class-per-folder tree, an npz file, or a folder with either kind of dataset; None looks around;
            "sample" takes the images shipped with foible.
        split: "train" or "test"; a tree has `train/` and `test/` on top or is used whole.
    """
    if where == "sample":
        return _sample(domain)
    if where is not None:
        return _named(domain, Path(where), split)
    if domain.folder is not None:
        return _tree(domain, Path(domain.folder), split)
    return next(_around(domain, split))


def where_images_are(domain: Domain) -> str:
    """Where real images of a domain would come from, without reading them."""
    if domain.folder is not None:
        return f"folder {domain.folder}"
    for folder in data_folders():
        if domain.file and (folder / domain.file).is_file():
            return f"{domain.file} in {folder}"
        if domain.library and in_library(folder, domain.library):
            return f"torchvision {domain.library} in {folder}"
    return "the sample that comes with foible" if domain.sample else "none here: name some with --data"


def _around(domain: Domain, split: str) -> Iterator[RealImages]:
    for folder in data_folders():
        yield from _dataset_in(domain, folder, split)
    yield _sample(domain)


def _dataset_in(domain: Domain, folder: Path, split: str) -> Iterator[RealImages]:
    if domain.file and (folder / domain.file).is_file():
        yield read_npz(folder / domain.file, domain.shape, len(domain.classes), split)
    if domain.library and in_library(folder, domain.library):
        yield read_library(folder, domain.library, domain.shape, len(domain.classes), split)


def _named(domain: Domain, path: Path, split: str) -> RealImages:
    if path.is_file():
        return read_npz(path, domain.shape, len(domain.classes), split)
    if not path.is_dir():
        raise DataError(f"no images at '{path}'", "name a class-per-folder tree, an npz file, or leave the option out")
    dataset = next(_dataset_in(domain, path, split), None)
    return dataset if dataset is not None else _tree(domain, path, split)


def _tree(domain: Domain, root: Path, split: str) -> RealImages:
    inner = root / split
    return ImageFolder(inner if inner.is_dir() else root, domain.classes, domain.shape, domain.resize, domain.partial)


def _sample(domain: Domain) -> RealImages:
    if domain.sample is None:
        raise DataError(f"no real images of domain '{domain.name}' were found", how_to_get(domain))
    return read_npz(HERE / domain.sample, domain.shape, len(domain.classes), "test")
