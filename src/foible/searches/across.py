"""Whom to meet halfway: a boundary lies between two members about which the classifiers say different things."""

from __future__ import annotations

import torch
from torch import Tensor


def across(latents: Tensor, labels: Tensor, answers: Tensor, found: Tensor) -> Tensor:
    """For each member the nearest one on the other side of a boundary, (lanes, members); -1 where there is none.

    Of two members that are nearest to each other only the first is given a partner: they have one middle. Finds have none, and
    are nobody's: halfway to a find is a copy of it.

    Args:
        latents: (lanes, members, coordinates).
        labels: the class that each member is an image of (lanes, members); a boundary is looked for within a class.
        answers: what the classifiers say of it, as one number (lanes, members).
        found: which members are finds (lanes, members).
    """
    fits = (labels[:, :, None] == labels[:, None]) & (answers[:, :, None] != answers[:, None])
    fits &= ~(found[:, :, None] | found[:, None])
    # not by a matrix product, whose last bits may depend on the lanes beside
    away = torch.cdist(latents.double(), latents.double(), compute_mode="donot_use_mm_for_euclid_dist")
    nearest = away.masked_fill(~fits, torch.inf).min(2)
    place = torch.arange(latents.shape[1], device=latents.device)
    mutual = nearest.indices.gather(1, nearest.indices) == place
    alone = ~nearest.values.isfinite() | (mutual & (nearest.indices < place))
    return nearest.indices.masked_fill(alone, -1)
