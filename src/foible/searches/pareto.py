"""Who is better when there is more than one number to minimise: the ranking of NSGA-II, batched over lanes.

Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Transactions on
Evolutionary Computation 6 (2002).

    paper                       here
    p dominates q               dominance(scores)[lane, p, q]
    non-domination rank         fronts(scores), 0 is the best
    crowding distance           crowding(scores, fronts)
    crowded-comparison, select  survivors(scores, count), winners(...)

1. The domination matrix of a lane is found once. Members that nobody dominates are front 0; the domination they exert
   is taken away, row by row of the matrix, and whoever is then free is front 1, and so on.
2. Inside a front, the crowding distance is the mean over objectives of the gap between both neighbours, in units of
   the front's extent; the ends of a front are infinitely far, so that they are kept.
3. The next generation is filled front by front, and of the last one that fits the least crowded are taken.

Scores are (lanes, members, objectives); lower is better, NaN is worse than everything. All of it is comparisons, counts
and subtractions per lane, so that a lane's result does not depend on the lanes beside it.

Differs from the original in: the distance is the mean and not the sum over objectives, as in pymoo, which changes no
order.
"""

from __future__ import annotations

import torch
from torch import Tensor


def dominance(scores: Tensor) -> Tensor:
    """Who dominates whom: True at (lane, i, j) where i is nowhere worse than j and somewhere better."""
    scores = _comparable(scores)
    lanes, members, objectives = scores.shape
    not_worse = torch.ones(lanes, members, members, dtype=torch.bool, device=scores.device)
    better = torch.zeros_like(not_worse)
    for column in range(objectives):
        ours, theirs = scores[:, :, None, column], scores[:, None, :, column]
        not_worse &= ours <= theirs
        better |= ours < theirs
    return not_worse & better


def fronts(scores: Tensor, enough: int | None = None) -> Tensor:
    """The front (lanes, members) that each member belongs to; 0 is dominated by nobody.

    Args:
        scores: (lanes, members, objectives).
        enough: stop a lane when this many of its members have a front; the rest get the number of members.
    """
    matrix = dominance(scores)
    lanes, members, _ = scores.shape
    dominators = matrix.sum(1)
    found = torch.full((lanes, members), members, dtype=torch.long, device=scores.device)
    wanted = members if enough is None else min(enough, members)
    for front in range(members):
        short = (found < members).sum(1) < wanted
        if not bool(short.any()):
            break
        free = (dominators == 0) & (found == members) & short[:, None]
        found[free] = front
        lane, member = free.nonzero(as_tuple=True)  # each row of the matrix is taken away once: N^2 work in all
        dominators.index_add_(0, lane, matrix[lane, member].long(), alpha=-1)
    return found


def crowding(scores: Tensor, front: Tensor) -> Tensor:
    """How much room each member has inside its front (lanes, members); infinite at the ends."""
    scores = _comparable(scores)
    lanes, members, objectives = scores.shape
    room = torch.zeros(lanes, members, dtype=scores.dtype, device=scores.device)
    size = torch.zeros(lanes, members + 1, dtype=torch.long, device=scores.device)
    size.scatter_add_(1, front, torch.ones_like(front))
    for column in range(objectives):
        room += _gaps(scores[:, :, column], front)
    room /= objectives
    return room.masked_fill(size.gather(1, front) <= 2, torch.inf)


def survivors(scores: Tensor, count: int) -> Tensor:
    """Positions (lanes, count) of those that live on: by front, then by room, then by position; best first."""
    front = fronts(scores, count)
    return order(front, crowding(scores, front))[:, :count]


def order(front: Tensor, room: Tensor) -> Tensor:
    """Positions (lanes, members) from best to worst: lower front, then more room, then position."""
    by_room = torch.argsort(room, dim=1, descending=True, stable=True)
    return by_room.gather(1, torch.argsort(front.gather(1, by_room), dim=1, stable=True))


def in_turn(best: Tensor, kinds: Tensor, last: Tensor) -> Tensor:
    """Positions (lanes, members) from best to worst, but of each kind one after the other: the best of all kinds come first.

    Args:
        best: positions from best to worst (lanes, members).
        kinds: what kind each member is of (lanes, members).
        last: members that come after all others (lanes, members).
    """
    ordered = kinds.gather(1, best)
    better = (ordered[:, :, None] == ordered[:, None, :]).tril(-1).sum(2)
    turn = better + last.gather(1, best) * best.shape[1]
    return best.gather(1, turn.argsort(dim=1, stable=True))


def winners(front: Tensor, room: Tensor, pairs: Tensor, coins: Tensor) -> Tensor:
    """Binary tournaments: of each pair the member of the lower front, then the one with more room, then by the coin.

    Args:
        front: (lanes, members).
        room: (lanes, members).
        pairs: positions of the rivals (lanes, tournaments, 2).
        coins: True lets the first of two equals win (lanes, tournaments).
    """
    place = pairs.flatten(1)
    ranks, rooms = front.gather(1, place).view(pairs.shape), room.gather(1, place).view(pairs.shape)
    first = (ranks[..., 0] < ranks[..., 1]) | (
        (ranks[..., 0] == ranks[..., 1])
        & ((rooms[..., 0] > rooms[..., 1]) | ((rooms[..., 0] == rooms[..., 1]) & coins))
    )
    return torch.where(first, pairs[..., 0], pairs[..., 1])


def _gaps(values: Tensor, front: Tensor) -> Tensor:
    """For one objective: the distance between a member's neighbours in its front, by the front's extent."""
    by_value = torch.argsort(values, dim=1, stable=True)
    place = by_value.gather(1, torch.argsort(front.gather(1, by_value), dim=1, stable=True))
    ordered, group = values.gather(1, place), front.gather(1, place)
    same = group[:, 1:] == group[:, :-1]
    step = ordered[:, 1:] - ordered[:, :-1]
    edge = torch.full_like(ordered[:, :1], torch.inf)
    before = torch.cat([edge, step.masked_fill(~same, torch.inf)], 1)
    after = torch.cat([step.masked_fill(~same, torch.inf), edge], 1)
    members = values.shape[1]
    lows = torch.full((len(values), members + 1), torch.inf, dtype=values.dtype, device=values.device)
    highs = -lows
    lows, highs = lows.scatter_reduce(1, group, ordered, "amin"), highs.scatter_reduce(1, group, ordered, "amax")
    extent = (highs - lows).gather(1, group)
    room = torch.where(extent > 0, (before + after) / extent, 0.0).nan_to_num(nan=0.0, posinf=torch.inf)
    return torch.zeros_like(room).scatter(1, place, room)


def _comparable(scores: Tensor) -> Tensor:
    if scores.ndim != 3:
        raise ValueError(f"scores are (lanes, members, objectives), got shape {tuple(scores.shape)}")
    return scores.nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)
