"""Between foible's images, 8-bit pixels and files: the one place where images are rounded, encoded and decoded; and blur."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from torch.nn import functional

from foible.errors import DataError
from foible.types import Images

Pixels = NDArray[np.uint8]
LOOKED_AT, FEWEST = 2**20, 16  # pixels that are looked at before a run, in at least so many images


def to_images(pixels: Pixels) -> Images:
    """8-bit pixels (N, C, H, W) as floats in [0, 1]."""
    return torch.from_numpy(pixels.astype(np.float32)).div_(255)


def worth_a_look(shape: Sequence[int], most: int) -> int:
    """How many images of a shape (..., height, width) are looked at before a run: fewer of them where they are large.

    >>> worth_a_look((3, 32, 32), 200), worth_a_look((3, 224, 224), 200)
    (200, 20)
    """
    return min(most, max(FEWEST, LOOKED_AT // (shape[-2] * shape[-1])))


def to_bytes(images: Images) -> Pixels:
    """Images rounded to the 8-bit pixels (N, C, H, W) that a file holds."""
    array: Pixels = images.detach().mul(255).round_().clamp_(0, 255).to(torch.uint8).cpu().numpy()
    return array


def rounded(images: Images) -> Images:
    """Images as they will be when read back from an 8-bit file."""
    return images.mul(255).round_().clamp_(0, 255).div_(255)


def as_pixels(image: Images) -> Pixels:
    """One image (C, H, W) as 8-bit pixels (H, W) or (H, W, 3), as picture files want them."""
    planes = to_bytes(image)
    return planes[0] if len(planes) == 1 else np.ascontiguousarray(planes.transpose(1, 2, 0))


def png(pixels: Pixels, optimize: bool = False) -> bytes:
    """Pixels (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) as a PNG in memory."""
    buffer = io.BytesIO()
    Image.fromarray(pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels).save(
        buffer, "PNG", optimize=optimize
    )
    return buffer.getvalue()


def webp(pixels: Pixels) -> bytes:
    """Pixels (H, W), (H, W, 3) or (H, W, 4) as a small WebP in memory: for the eye, not for a second look."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", quality=80, method=2)
    return buffer.getvalue()


def png_bytes(image: Images) -> bytes:
    """One image (C, H, W) as an 8-bit PNG in memory; `read_png` gives it back, rounded."""
    return png(as_pixels(image))


def read_png(source: Path | bytes, shape: tuple[int, int, int]) -> Images:
    """One image (C, H, W) exactly as stored in a file or in memory."""
    return to_images(read_pixels(source, shape)[None])[0]


def read_pixels(source: Path | bytes, shape: tuple[int, int, int], resize: bool = False) -> Pixels:
    """One image as uint8 (C, H, W) of exactly this shape."""
    channels, height, width = shape
    image = open_image(source).convert("L" if channels == 1 else "RGB")
    if image.size != (width, height):
        if not resize:
            raise DataError(
                f"image {_called(source)} is {image.width}x{image.height}, the domain wants {width}x{height}",
                "make all images one size, or set resize = true in the domain file",
            )
        image = image.resize((width, height), Image.Resampling.BICUBIC)
    pixels = np.asarray(image, dtype=np.uint8)
    return pixels[None] if channels == 1 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def open_image(source: Path | bytes) -> Image.Image:
    """A decoded image, or an error that names the file."""
    try:
        image = Image.open(io.BytesIO(source) if isinstance(source, bytes) else source)
        image.load()
        return image
    except FileNotFoundError:
        raise DataError(f"image {_called(source)} is missing") from None
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError, SyntaxError, ValueError) as error:
        raise DataError(
            f"image {_called(source)} cannot be read: {error}", "remove the file or replace it with a sound one"
        ) from error


def pixel_digest(image: Images) -> str:
    """What an image (C, H, W) is known by, whatever file it is in: the sha256 of its shape and 8-bit pixels."""
    pixels = to_bytes(image)
    return hashlib.sha256(str(pixels.shape).encode() + pixels.tobytes()).hexdigest()


def _called(source: Path | bytes) -> str:
    return "in memory" if isinstance(source, bytes) else f"'{source}'"


def blurred(images: Images, sigma: float) -> Images:
    """Images under a Gaussian of this many pixels, edges repeated."""
    reach = max(1, round(3 * sigma))
    line = torch.exp(-(torch.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    kernel = (line / line.sum()).view(1, 1, 1, -1).expand(images.shape[1], 1, 1, -1)
    padded = functional.pad(images, (reach, reach, reach, reach), mode="replicate")
    rows = functional.conv2d(padded, kernel, groups=images.shape[1])
    return functional.conv2d(rows, kernel.transpose(2, 3), groups=images.shape[1])
