"""Which pairs of inputs agree in the signs of a layer, or differ in few of them.

SS and SV ask for the same pairs, and so do VS and VV: what was found last is kept for the next that asks. It is known
by the very tensors it was found for, which nobody changes in place.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from foible.coverage.hashing import row_hashes


class Rule(NamedTuple):
    """Which pairs are wanted: with up to so many signs changed in the condition layer, or none; and how many of them."""

    flips: int
    compared: int


class Pairing(NamedTuple):
    """Pairs of inputs, sorted by the later one, and which signs differ."""

    later: Tensor  # (P,) row of the batch
    other: Tensor  # (P,) row of what it is compared with: the earlier ones, then the batch itself
    condition: Tensor  # (P, units of the condition layer)
    decision: Tensor  # (P, units of the decision layer)


@lru_cache(maxsize=64)
def paired(values: Tensor, earlier: Tensor, layers: tuple[int, int, int], rule: Rule, alone: bool) -> Pairing:
    """Pairs of inputs that are as wanted in one layer.

    Args:
        values: of the inputs (N, units).
        earlier: of those they are compared with (E, units); unless `alone`, also with each other.
        layers: where the condition layer begins, where the decision layer begins, and where that ends.
        rule: which pairs.
        alone: leave out pairs among the values.
    """
    start, middle, end = layers
    signs, other_signs = values[:, start:end] > 0, earlier[:, start:end] > 0
    if not alone:
        other_signs = torch.cat([other_signs, signs])
    width = middle - start
    one, other = (side[:, :width].float().mul_(2).sub_(1) for side in (signs, other_signs))
    agree = one @ other.T  # equal signs less different ones
    fits = (agree >= width - 2 * rule.flips) & (agree < width) if rule.flips else agree == width
    if not alone:
        fits[:, len(earlier) :] = fits[:, len(earlier) :].tril(-1)
    later, which = fits.nonzero(as_tuple=True)
    if len(later) > rule.compared:
        even = torch.linspace(0, len(later) - 1, rule.compared).long()
        later, which = later[even], which[even]
    flipped = signs[later] != other_signs[which]
    return Pairing(later, which, flipped[:, :width], flipped[:, width:])


class Kept(NamedTuple):
    """Examples, and how many were dropped to have no more than allowed."""

    rows: Tensor
    dropped: int


@lru_cache(maxsize=4)
def kept(one: Tensor, other: Tensor, most: int) -> Kept:
    """Of two sets of rows those with the smallest hashes: the same sample whatever the order."""
    rows = torch.cat([one, other])
    if len(rows) <= most:
        return Kept(rows, 0)
    smallest = row_hashes(rows).argsort(stable=True)[:most]
    return Kept(rows[smallest], len(rows) - most)


@lru_cache(maxsize=4)
def no_rows(units: int, dtype: torch.dtype) -> Tensor:
    """No examples yet."""
    return torch.empty(0, units, dtype=dtype)


@lru_cache(maxsize=2)
def parted(values: Tensor, first: int) -> tuple[Tensor, Tensor]:
    """The first rows and the others: the same two tensors for all that ask."""
    return values[:first], values[first:]
