"""Images from a class-per-folder tree: `folder/<class>/*.png`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from foible.errors import DataError
from foible.images import open_image, read_pixels, to_images
from foible.types import Images

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm"}


def class_folders(root: Path) -> list[Path]:
    """The subfolders that are classes, in name order."""
    folders = sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    if not folders:
        raise DataError(
            f"folder '{root}' has no subfolders", "put the images of each class in a subfolder named after it"
        )
    return folders


def image_files(folder: Path) -> list[Path]:
    """The image files of one class, in name order."""
    return sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES and not p.name.startswith("."))


def first_image_shape(root: Path) -> tuple[int, int, int]:
    """Channels, height and width of the first image of a tree."""
    for folder in class_folders(root):
        for path in image_files(folder):
            with open_image(path) as image:
                return (1 if image.mode in {"1", "L", "I", "I;16"} else 3, image.height, image.width)
    raise DataError(f"no images in '{root}'", f"expected {root}/<class>/*.png (or jpg, bmp, webp, tiff)")


class ImageFolder:
    """Labelled images read from a tree when they are needed."""

    def __init__(
        self,
        root: Path,
        classes: tuple[str, ...],
        shape: tuple[int, int, int],
        resize: bool = False,
        partial: bool = False,
    ) -> None:
        present = {p.name for p in class_folders(root)}
        missing = [c for c in classes if c not in present]
        if missing and not (partial and len(missing) < len(classes)):
            raise DataError(
                f"folder '{root}' lacks the classes {', '.join(missing)}", f"it has: {', '.join(sorted(present))}"
            )
        known = [(label, name) for label, name in enumerate(classes) if name in present]
        found = [(path, label) for label, name in known for path in image_files(root / name)]
        if not found:
            raise DataError(f"no images in '{root}'", f"expected {root}/<class>/*.png (or jpg, bmp, webp, tiff)")
        self.source = f"folder {root}"
        self.shape, self.resize = shape, resize
        self.paths = [path for path, _ in found]
        self.labels: Tensor = torch.tensor([label for _, label in found])

    def images(self, index: Tensor) -> Images:
        """The images at these positions, float32 NCHW in [0, 1]."""
        return to_images(np.stack([read_pixels(self.paths[i], self.shape, self.resize) for i in index.tolist()]))
