"""The PNG files of a run: written whole or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

from foible.files import write_whole
from foible.images import png_bytes
from foible.types import Images


def write_png(path: Path, image: Images) -> str:
    """Write one image (C, H, W) and give the sha256 of the file."""
    content = png_bytes(image)
    write_whole(path, content)
    return hashlib.sha256(content).hexdigest()
