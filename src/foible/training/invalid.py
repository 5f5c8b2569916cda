"""Made-up invalid images: pictures that nobody would take for an image of the domain.

Each kind turns real images into images without a class. The judge is fitted on the first table, its parts are weighed
against each other on the second, and it is measured on the third, so that the stated error rates are for kinds of nonsense
that it has never seen. Randomness comes from torch's current generator, as in `Augmentation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from foible.images import blurred
from foible.training.augment import warped
from foible.types import Images

Kind = Callable[[Images, Tensor], Images]  # real images and their labels -> as many invalid images


def noise(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Uniform noise in every pixel, in blocks of one, two or four."""
    block = int(2 ** torch.randint(0, 3, ()))
    height, width = (-(-side // block) for side in images.shape[2:])
    coarse = torch.rand(len(images), images.shape[1], height, width)
    return functional.interpolate(coarse, scale_factor=block)[:, :, : images.shape[2], : images.shape[3]]


def drowned(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """The image under normal noise that is far stronger than it."""
    return (images * 0.4 + 0.3 + torch.randn_like(images) * _between(images, 0.5, 1.0)).clamp(0, 1)


def blend(images: Images, labels: Tensor) -> Images:
    """The mean of two images of different classes."""
    other = _other_class(images, labels)
    return torch.lerp(images, other, _between(images, 0.4, 0.6))


def overlay(images: Images, labels: Tensor) -> Images:
    """Two images of different classes on top of each other, the second one upside down."""
    return torch.maximum(images, _other_class(images, labels).flip(2))


def erased(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Only a small window of the image is left, the rest has the image's background."""
    return torch.where(_window(images, 0.25, 0.45), images, background(images))


def broken(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Two thirds of the image are gone in small blocks."""
    return torch.where(_blocks(images, 4) < 0.34, images, background(images))


def blank(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """One value or a slope of values, faintly noisy."""
    level = torch.rand(len(images), images.shape[1], 1, 1)
    slope = torch.linspace(-0.5, 0.5, images.shape[3]) * _between(images, -0.6, 0.6)
    return (level + slope + torch.randn_like(images) * _between(images, 0.0, 0.08)).clamp(0, 1).expand_as(images)


def saturated(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Nearly everything is at one end of the range."""
    sign = torch.where(torch.rand(len(images), 1, 1, 1) < 0.5, 1.0, -1.0)
    return (images + sign * _between(images, 0.95, 1.1)).clamp(0, 1)


def smeared(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Blur that leaves only a stain."""
    return blurred(images, float(torch.empty(()).uniform_(0.12, 0.22)) * images.shape[3])


def shuffled(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Patches of the image in another order, a quarter of its side long."""
    side = images.shape[3] // 4
    patches = functional.unfold(images[:, :, : 4 * side, : 4 * side], side, stride=side)
    order = torch.rand(len(images), 16).argsort(1)
    patches = patches.gather(2, order[:, None].expand_as(patches))
    folded = functional.fold(patches, (4 * side, 4 * side), side, stride=side)
    return functional.pad(folded, (0, images.shape[3] - 4 * side, 0, images.shape[2] - 4 * side), mode="replicate")


def collage(images: Images, labels: Tensor) -> Images:
    """Quarters of images of at least two classes, none where it belongs."""
    other = _other_class(images, labels)
    rows = torch.arange(images.shape[2])[:, None] < images.shape[2] // 2
    columns = torch.arange(images.shape[3])[None] < images.shape[3] // 2
    chequered = torch.where(rows ^ columns, images, other)
    middle = (images.shape[2] // 2, images.shape[3] // 2)
    return torch.where(rows, chequered, chequered.roll(1, 0)).roll(middle, (2, 3))


def peppered(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Most pixels set to black or white at random."""
    hit = torch.rand(len(images), 1, *images.shape[2:]) < _between(images, 0.65, 0.85)
    return torch.where(hit, (torch.rand(len(images), 1, *images.shape[2:]) < 0.5).float(), images)


def torn(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Every line of the image moved sideways by its own distance."""
    moves = torch.randint(0, images.shape[3], (len(images), 1, images.shape[2], 1))
    columns = (torch.arange(images.shape[3]) + moves) % images.shape[3]
    return images.gather(3, columns.expand_as(images))


def kneaded(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Pulled about until no shape is left."""
    return warped(warped(images, 0.5, 6), 0.4, 5)


def mosaic(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Four by four blocks of one colour."""
    return functional.interpolate(functional.adaptive_avg_pool2d(images, 4), list(images.shape[2:]))


def barred(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Seen through a fence: most columns or rows are hidden under one value."""
    across = bool(torch.rand(()) < 0.5)
    side = images.shape[2 if across else 3]
    slits = torch.arange(side) % max(4, side // 4) < max(1, side // 16)
    return torch.where(slits[:, None] if across else slits, images, torch.rand(len(images), images.shape[1], 1, 1))


def scattered(images: Images, labels: Tensor) -> Images:  # noqa: ARG001
    """Every pixel taken from a random place nearby, up to a third of the image away."""
    count, channels, height, width = images.shape
    rows = torch.arange(height)[:, None] + (_spread(count, height, width) * height / 3).long()
    columns = torch.arange(width) + (_spread(count, height, width) * width / 3).long()
    places = rows.clamp(0, height - 1) * width + columns.clamp(0, width - 1)
    flat = images.flatten(2).gather(2, places.flatten(1)[:, None].expand(-1, channels, -1))
    moved: Images = flat.unflatten(2, (height, width))
    return moved


FITTED: Mapping[str, Kind] = {
    k.__name__: k for k in (noise, drowned, blend, overlay, erased, broken, blank, saturated, smeared, shuffled)
}
WEIGHED: Mapping[str, Kind] = {k.__name__: k for k in (collage, peppered, torn)}
MEASURED: Mapping[str, Kind] = {k.__name__: k for k in (kneaded, mosaic, barred, scattered)}


def mixture(images: Images, labels: Tensor, kinds: Mapping[str, Kind], share: int = 3) -> Images:
    """Invalid images of all kinds in turn, beginning anywhere, a few images of each.

    Many kinds in few images keep batches alike: batch norm would otherwise learn statistics that fit none of them.
    """
    parts = zip(images.split(share), labels.split(share), strict=True)
    makers, first = list(kinds.values()), int(torch.randint(len(kinds), ()))
    return torch.cat([makers[(first + turn) % len(makers)](i, y) for turn, (i, y) in enumerate(parts)])


def background(images: Images) -> Images:
    """The value of an image's border, its median there, per channel: (N, C, 1, 1)."""
    border = torch.cat([images[:, :, 0], images[:, :, -1], images[:, :, :, 0], images[:, :, :, -1]], 2)
    return border.median(2).values[:, :, None, None]


def _other_class(images: Images, labels: Tensor) -> Images:
    """For every image one of another class of the batch; where there is none, itself upside down."""
    order = torch.rand(len(images), len(images)) + (labels[:, None] == labels[None]).float() * 2
    choice = order.argmin(1)
    alone = (labels[choice] == labels).view(-1, 1, 1, 1)
    return torch.where(alone, images.flip(2), images[choice])


def _window(images: Images, low: float, high: float) -> Tensor:
    """A random rectangle per image, its sides this share of the image's: (N, 1, H, W)."""
    inside = []
    for side in images.shape[2:]:
        length = torch.empty(len(images), 1).uniform_(low, high) * side
        start = torch.rand(len(images), 1) * (side - length)
        at = torch.arange(side) + 0.5
        inside.append((at >= start) & (at < start + length))
    return inside[0][:, None, :, None] & inside[1][:, None, None, :]


def _blocks(images: Images, side: int) -> Tensor:
    """A random number per block of pixels: (N, 1, H, W)."""
    coarse = torch.rand(len(images), 1, -(-images.shape[2] // side), -(-images.shape[3] // side))
    return functional.interpolate(coarse, scale_factor=side)[:, :, : images.shape[2], : images.shape[3]]


def _spread(*shape: int) -> Tensor:
    return 2 * torch.rand(*shape) - 1


def _between(images: Images, low: float, high: float) -> Tensor:
    return torch.empty(len(images), 1, 1, 1).uniform_(low, high)
