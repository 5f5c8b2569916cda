"""Diversity as published for DiffGAN, for comparison with its tables alone: both numbers mislead.

Shannon: all pixel values of all images are taken for counts of as many species as there are pixels. That measures how
many pixels are lit, not how images differ: one image copied a thousand times scores as high as a thousand different ones
of the same brightness, and the maximum is reached by identical flat grey images. Use `effective_kinds` and
`neighbour_distances` instead.

Geometric diversity: the absolute value of the log-determinant, 0 where it is infinite. Nearly redundant images have a
very negative log-determinant and so a large score. Use `log_volume` instead.
"""

from __future__ import annotations

import math

from torch import Tensor

from foible.metrics.diversity import log_volume


def published_shannon(images: Tensor) -> float:
    """H in nats over all pixels of all images, values being counts; the tables print e^H."""
    counts = images.double().flatten()
    total = float(counts.sum())
    if total <= 0:
        return 0.0
    shares = counts[counts > 0] / total
    return float(-(shares * shares.log()).sum())


def published_geometric_diversity(features: Tensor) -> float:
    """The absolute value of the log-determinant; 0 for dependent images."""
    volume = log_volume(features)
    return 0.0 if math.isinf(volume) else abs(volume)
