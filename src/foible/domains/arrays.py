"""Images from an npz file with `x_train, y_train, x_test, y_test` (or `x, y`), uint8."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from foible.domains.images import ImageArray
from foible.errors import DataError


def read_npz(path: Path, shape: tuple[int, int, int], class_count: int, split: str) -> ImageArray:
    """One split of an npz file, checked against the domain's shape and number of classes."""
    try:
        with np.load(path, allow_pickle=False) as members:
            keys = set(members.files)
            suffix = f"_{split}" if f"y_{split}" in keys else ""
            if f"x{suffix}" in keys and f"y{suffix}" in keys:
                pixels, labels = members[f"x{suffix}"], members[f"y{suffix}"]
            elif f"x{suffix}_delta" in keys:
                pixels, labels = undo_differences(members[f"x{suffix}_delta"]), members[f"y{suffix}"]
            else:
                raise DataError(
                    f"'{path}' has no images of the {split} split; it holds {sorted(keys)}",
                    f"save arrays named x_{split} and y_{split}",
                )
    except FileNotFoundError:
        raise DataError(f"no data file '{path}'") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"data file '{path}' cannot be read: {error}",
            "expected an npz of uint8 arrays x_train, y_train, x_test, y_test",
        ) from error
    return ImageArray(
        f"{path.name} ({split})", _nchw(pixels, shape, path), _labels(labels, len(pixels), class_count, path)
    )


def undo_differences(differences: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Inverse of the lossless filter (3, N, H, W) -> (N, H, W, 3) that makes colour sets compress better."""
    planes = differences.cumsum(2, dtype=np.uint8).cumsum(3, dtype=np.uint8)
    planes[0] += planes[1]
    planes[2] += planes[1]
    return np.ascontiguousarray(planes.transpose(1, 2, 3, 0))


def _nchw(pixels: NDArray[np.uint8], shape: tuple[int, int, int], path: Path) -> NDArray[np.uint8]:
    if pixels.dtype != np.uint8:
        raise DataError(f"images in '{path}' are {pixels.dtype}, expected uint8", "store 0..255 pixels")
    channels, height, width = shape
    if pixels.shape[1:] == (height, width) and channels == 1:
        return pixels[:, None]
    if pixels.shape[1:] == (channels, height, width):
        return pixels
    if pixels.shape[1:] == (height, width, channels):
        return np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))
    raise DataError(
        f"images in '{path}' have shape {pixels.shape}, the domain wants (N, {channels}, {height}, {width})",
        "pick the matching domain",
    )


def _labels(labels: NDArray[np.integer], count: int, class_count: int, path: Path) -> torch.Tensor:
    if labels.shape != (count,):
        raise DataError(f"'{path}' has {count} images but labels of shape {labels.shape}", "one label per image")
    if count == 0:
        raise DataError(f"'{path}' holds no images")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= class_count:
        raise DataError(
            f"labels in '{path}' run from {low} to {high}, the domain has {class_count} classes",
            "labels are 0-based class numbers",
        )
    return torch.from_numpy(labels.astype(np.int64))
