"""Contact sheets: a generator at a glance, one row per class."""

from __future__ import annotations

from pathlib import Path

import torch
from PIL import Image

from foible.domains import RealImages
from foible.faces import Encoder
from foible.images import to_bytes
from foible.protocols import Generator
from foible.types import Images

GAP = 2  # pixels between images


@torch.inference_mode()
def contact_sheet(
    generator: Generator, classes: int, path: Path, columns: int = 16, real: RealImages | None = None
) -> Path:
    """Draw fresh samples, one row per class, and save them as a PNG.

    Args:
        generator: makes the images.
        classes: number of rows.
        path: the PNG file.
        columns: images per row.
        real: a generator that encodes shows reconstructions of some of these, drawn at random, instead of samples.
    """
    labels, rng = torch.arange(classes).repeat_interleave(columns), torch.Generator().manual_seed(0)
    if real is not None and isinstance(generator, Encoder):
        order = torch.randperm(len(real.labels), generator=rng)
        index = torch.cat([order[real.labels[order] == c][:columns] for c in range(classes)])
        labels = real.labels[index]
        latents = generator.encode(real.images(index), labels)
    else:
        latents = generator.sample(labels, rng)
    images = torch.cat(
        [generator.decode(z, y) for z, y in zip(latents.split(columns), labels.split(columns), strict=True)]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    _tiled(images, columns).save(path, optimize=True)
    return path


def _tiled(images: Images, columns: int) -> Image.Image:
    pixels = to_bytes(images)
    _, channels, height, width = pixels.shape
    rows = -(-len(pixels) // columns)
    sheet = Image.new(
        "L" if channels == 1 else "RGB", (columns * (width + GAP) - GAP, rows * (height + GAP) - GAP), "white"
    )
    for k, image in enumerate(pixels):
        tile = Image.fromarray(image[0] if channels == 1 else image.transpose(1, 2, 0))
        sheet.paste(tile, ((k % columns) * (width + GAP), (k // columns) * (height + GAP)))
    return sheet
