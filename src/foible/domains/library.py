"""Images the user has downloaded with torchvision: `DIR/MNIST/raw/...` and the like. Never downloads by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from foible.domains.arrays import _labels, _nchw
from foible.domains.images import ImageArray
from foible.errors import DataError, MissingExtra


def in_library(root: Path, name: str) -> bool:
    """Whether torchvision's dataset `name` has been downloaded into this folder."""
    return (root / name / "raw").is_dir()


def read_library(root: Path, name: str, shape: tuple[int, int, int], class_count: int, split: str) -> ImageArray:
    """One split of a dataset that torchvision has downloaded into `root`."""
    dataset_class = getattr(import_torchvision().datasets, name)
    try:
        dataset = dataset_class(root, train=split == "train", download=False)
    except (RuntimeError, OSError, ValueError) as error:
        raise DataError(
            f"torchvision's {name} in '{root}' cannot be read: {error}",
            f"torchvision.datasets.{name}({str(root)!r}, download=True) fetches it again",
        ) from error
    pixels, labels = np.asarray(dataset.data), np.asarray(dataset.targets)
    return ImageArray(
        f"torchvision {name} ({split})", _nchw(pixels, shape, root), _labels(labels, len(pixels), class_count, root)
    )


def import_torchvision() -> Any:
    """torchvision, also where its compiled operators do not match the installed torch.

    A CUDA build of torchvision beside a CPU build of torch fails on one missing operator that reading datasets never
    calls; declaring its schema lets the import go through.
    """
    try:
        import torchvision
    except ImportError:
        raise MissingExtra("torchvision", "datasets", "reading a torchvision dataset") from None
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        return _import_without_operators()
    return torchvision


def _import_without_operators() -> Any:
    import sys

    import torch

    for module in [m for m in sys.modules if m.split(".")[0] == "torchvision"]:
        del sys.modules[module]
    operators = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision

    torchvision._foible_operators = operators  # the declarations live as long as this object
    return torchvision
