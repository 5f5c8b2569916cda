"""How far the nearest other image is: exact, by matrix products over blocks.

|q - a|^2 = |q|^2 + |a|^2 - 2 q.a turns all distances of a block into one matrix product, which a machine does some
thousand times faster than pair by pair (clustering the archive first, as published, is slower than the exact answer).
Such a sum loses digits where two images are nearly the same, so the few nearest by product are measured once more,
coordinate by coordinate in double precision; the smallest of those is the answer. It does not depend on the blocks.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

Metric = Literal["euclidean", "cosine"]

BLOCK = 4096
CLOSEST = 4  # by product, to be measured once more


class Nearest(NamedTuple):
    """The distance (..., queries) to the nearest row, and its position; infinity and -1 where there is none."""

    distances: Tensor
    positions: Tensor


def nearest(
    queries: Tensor,
    archive: Tensor,
    *,
    filled: Tensor | None = None,
    own: Tensor | None = None,
    metric: Metric = "euclidean",
    block: int = BLOCK,
) -> Nearest:
    """For every query the nearest row of its archive.

    Args:
        queries: (queries, features), or (lanes, queries, features).
        archive: (rows, features), or (lanes, rows, features): each lane has its own.
        filled: how many rows of each archive are in use (lanes,); all of them by default.
        own: the row that is the query itself and does not count (..., queries); -1 for none.
        metric: "euclidean", or "cosine" for 1 minus the cosine of the angle.
        block: rows per matrix product: memory is lanes x queries x block numbers.
    """
    if queries.ndim == 2:
        found = nearest(
            queries[None],
            archive[None],
            filled=filled,
            own=None if own is None else own[None],
            metric=metric,
            block=block,
        )
        return Nearest(found.distances[0], found.positions[0])
    _check(queries, archive)
    lanes, count, _ = queries.shape
    left, right = (_directions(t) if metric == "cosine" else t for t in (queries, archive))
    best = torch.full((lanes, count, CLOSEST), torch.inf, device=queries.device)
    places = torch.full((lanes, count, CLOSEST), -1, dtype=torch.long, device=queries.device)
    for start in range(0, archive.shape[1], block):
        rows = right[:, start : start + block]
        numbers = torch.arange(start, start + rows.shape[1], device=queries.device)
        squares = rows.square().sum(2)[:, None] - 2 * left @ rows.mT
        if filled is not None:
            squares = squares.masked_fill((numbers >= filled[:, None])[:, None], torch.inf)
        if own is not None:
            squares = squares.masked_fill(numbers == own[..., None], torch.inf)
        all_best = torch.cat([best, squares], 2)
        all_places = torch.cat([places, numbers.expand(lanes, count, -1)], 2)
        best, chosen = all_best.topk(CLOSEST, dim=2, largest=False, sorted=True)
        places = all_places.gather(2, chosen)
    return _measured(left, right, places.masked_fill(best.isinf(), -1), metric)


def _measured(left: Tensor, right: Tensor, places: Tensor, metric: Metric) -> Nearest:
    """The nearest of a few candidates, measured directly; of equals the one that came first."""
    if right.shape[1] == 0:
        return Nearest(torch.full(left.shape[:2], torch.inf, device=left.device), places[..., 0])
    lane = torch.arange(len(left), device=left.device)[:, None]
    ordered = places.sort(dim=2).values
    distances = torch.stack(
        [(left.double() - right[lane, ordered[..., k].clamp_min(0)].double()).square().sum(2) for k in range(CLOSEST)],
        2,
    ).masked_fill(ordered < 0, torch.inf)
    smallest, which = distances.min(2)
    found = smallest.sqrt() if metric == "euclidean" else smallest / 2
    return Nearest(found.float(), ordered.gather(2, which[..., None])[..., 0].masked_fill(smallest.isinf(), -1))


def _directions(vectors: Tensor) -> Tensor:
    """Vectors of length 1, as |a - b|^2 / 2 is 1 - cosine then; a vector of zeros stays, half as far from all."""
    return torch.nn.functional.normalize(vectors, dim=2)


def _check(queries: Tensor, archive: Tensor) -> None:
    if archive.ndim != 3 or queries.shape[0] != archive.shape[0] or queries.shape[2] != archive.shape[2]:
        raise ValueError(
            f"queries (lanes, queries, features) and archive (lanes, rows, features) must agree in lanes and features, "
            f"got {tuple(queries.shape)} and {tuple(archive.shape)}"
        )
