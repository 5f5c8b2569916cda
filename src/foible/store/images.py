"""PNG files: written whole or not at all, read back with an error that names the file."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

from PIL import Image

from foible.domains.folder import read_pixels
from foible.domains.images import to_bytes, to_images
from foible.store.layout import write_whole
from foible.types import Images


def png_bytes(image: Images) -> bytes:
    """One image (C, H, W) as an 8-bit PNG."""
    pixels = to_bytes(image)
    picture = Image.fromarray(pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write_png(path: Path, image: Images) -> str:
    """Write one image (C, H, W) and give the sha256 of the file."""
    content = png_bytes(image)
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()


def pixel_digest(image: Images) -> str:
    """What an image (C, H, W) is known by, whatever file it is in: the sha256 of its shape and 8-bit pixels."""
    pixels = to_bytes(image)
    return hashlib.sha256(str(pixels.shape).encode() + pixels.tobytes()).hexdigest()


def read_png(path: Path, shape: tuple[int, int, int]) -> Images:
    """One image (C, H, W) exactly as stored."""
    return to_images(read_pixels(path, shape)[None])[0]
