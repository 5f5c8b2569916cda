"""Images made by anyone, as they lie on disk: a picture, an array, a folder of either, a class-per-folder tree, an npz."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from foible.domains import Domain
from foible.domains.folder import SUFFIXES
from foible.errors import DataError
from foible.images import read_pixels, to_images
from foible.judging.arrays import as_images
from foible.types import Images

READ = SUFFIXES | {".npy"}


@dataclass(frozen=True)
class Submitted:
    """Some images under the names by which a labels file and the result call them."""

    names: tuple[str, ...]
    images: Images
    expected: tuple[int | None, ...]  # where the place of an image says its class


def submitted(path: Path, domain: Domain, damaged: list[str] | None = None) -> Iterator[Submitted]:
    """All images at a path, file by file. Pictures of another size are resized.

    Args:
        path: where they are.
        domain: what they are meant to be of.
        damaged: collects what is said of files of a folder that cannot be read; None: the first ends it all.
    """
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() in READ and p.is_file() and not _hidden(p, path))
        if not files:
            raise DataError(f"no images in '{path}'", "expected PNG, JPEG or NPY files, or one subfolder per class")
        for file in files:
            try:
                yield _file(file, file.relative_to(path).as_posix(), domain, _class_of(file, path, domain))
            except DataError as error:
                if damaged is None:
                    raise
                damaged.append(error.message)
    elif path.suffix.lower() == ".npz":
        yield _npz(path, domain)
    elif path.is_file():
        yield _file(path, path.name, domain, None)
    else:
        raise DataError(f"no images at '{path}'", "give a folder, an npz file, or a picture")


def in_batches(parts: Iterable[Submitted], size: int) -> Iterator[Submitted]:
    """Files joined and arrays cut into batches of one size; the last may be smaller."""
    waiting, count = list[Submitted](), 0
    for part in parts:
        waiting, count = [*waiting, part], count + len(part.names)
        if count >= size:
            whole = _joined(waiting)
            full = count - count % size
            yield from (_cut(whole, start, start + size) for start in range(0, full, size))
            waiting, count = [_cut(whole, full, count)], count - full
    if count:
        yield _joined(waiting)


def ahead(batches: Iterator[Submitted]) -> Iterator[Submitted]:
    """The same batches, each read while the one before is used."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


def _joined(parts: list[Submitted]) -> Submitted:
    names = tuple(name for part in parts for name in part.names)
    expected = tuple(label for part in parts for label in part.expected)
    return Submitted(names, torch.cat([part.images for part in parts]), expected)


def _cut(whole: Submitted, start: int, end: int) -> Submitted:
    return Submitted(whole.names[start:end], whole.images[start:end], whole.expected[start:end])


def _file(path: Path, name: str, domain: Domain, expected: int | None) -> Submitted:
    if path.suffix.lower() != ".npy":
        return Submitted((name,), to_images(read_pixels(path, domain.shape, resize=True)[None]), (expected,))
    images = _named(path, _array(path), domain)
    names = (name,) if len(images) == 1 else tuple(f"{name}#{i}" for i in range(len(images)))
    return Submitted(names, images, (expected,) * len(images))


def _npz(path: Path, domain: Domain) -> Submitted:
    try:
        with np.load(path, allow_pickle=False) as members:
            held = {k: members[k] for k in members.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"'{path}' cannot be read: {error}", "expected an npz with images under x and labels under y"
        ) from error
    key = next((k for k in ("x", "images", "x_test", "arr_0") if k in held), None)
    if key is None:
        raise DataError(f"'{path}' has no images; it holds {sorted(held)}", "save them under x, and labels under y")
    images = _named(path, held[key], domain)
    labels = next((held[k] for k in ("y", "labels", "y_test") if k in held), None)
    if labels is not None and labels.shape != (len(images),):
        raise DataError(f"'{path}' has {len(images)} images but labels of shape {labels.shape}", "one label per image")
    expected = [None] * len(images) if labels is None else [domain.class_index(str(y)) for y in labels.tolist()]
    return Submitted(tuple(f"{path.name}#{i}" for i in range(len(images))), images, tuple(expected))


def _array(path: Path) -> NDArray[np.generic]:
    try:
        array: NDArray[np.generic] = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(
            f"'{path}' cannot be read: {error}", "expected one array of numbers, saved by numpy.save"
        ) from error
    return array


def _named(path: Path, array: NDArray[np.generic], domain: Domain) -> Images:
    if array.dtype.kind not in "fu" or (array.dtype.kind == "u" and array.dtype != np.uint8):
        raise DataError(f"'{path}' holds {array.dtype}, expected uint8 or floats in [0, 1]", "convert it")
    try:
        return as_images(array, domain.shape)
    except DataError as error:
        raise DataError(f"'{path}': {error.message}", error.hint) from error


def _class_of(file: Path, root: Path, domain: Domain) -> int | None:
    """The class whose folder a file lies in."""
    folder = file.relative_to(root).parts[0]
    return domain.classes.index(folder) if file.parent != root and folder in domain.classes else None


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)
