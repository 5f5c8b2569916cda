"""PNG files: written whole or not at all, read back with an error that names the file."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
from PIL import Image

from foible.digest import sha256
from foible.domains.folder import read_pixels
from foible.domains.images import to_bytes, to_images
from foible.errors import StoreError
from foible.store.layout import disk_errors
from foible.types import Images


def png_bytes(image: Images) -> bytes:
    """One image (C, H, W) as an 8-bit PNG."""
    pixels = to_bytes(image)
    picture = Image.fromarray(pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def decode_png(content: bytes) -> Images:
    """One image (C, H, W) from the bytes of a PNG that `png_bytes` made."""
    pixels = np.asarray(Image.open(io.BytesIO(content)))
    pixels = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return to_images(pixels[None])[0]


def write_file(path: Path, content: bytes, digest: str) -> None:
    """Write a file whole or not at all, and make sure that what is on the disk has this sha256."""
    partial = path.with_suffix(".part")
    with disk_errors(path):
        partial.write_bytes(content)
        partial.replace(path)
        written = sha256(path)
    if written != digest:
        raise StoreError(f"'{path}' is not what was written", "check the disk; nothing that was stored before is lost")


def pixel_digest(image: Images) -> str:
    """What an image (C, H, W) is known by, whatever file it is in: the sha256 of its shape and 8-bit pixels."""
    pixels = to_bytes(image)
    return hashlib.sha256(str(pixels.shape).encode() + pixels.tobytes()).hexdigest()


def read_png(path: Path, shape: tuple[int, int, int]) -> Images:
    """One image (C, H, W) exactly as stored."""
    return to_images(read_pixels(path, shape)[None])[0]
