"""The engine's books: what each search under way has cost and found, in tables with the lane first."""

from __future__ import annotations

import torch
from torch import Tensor

from foible.faces import Leaves, Shares
from foible.protocols import Objective
from foible.types import State


def blank_books(count: int, best: tuple[int, tuple[int, ...]] | None) -> State:
    """The books of searches that have spent nothing.

    Args:
        count: how many searches.
        best: columns and latent shape where the best failure is kept until a search is over; None where it is not.
    """
    zero = torch.zeros(count, dtype=torch.long)
    books = {
        "spent": zero.clone(),
        "rounds": zero.clone(),
        "found": zero.clone(),
        "suspected": torch.zeros(count, dtype=torch.bool),
        "lowest": torch.full((count,), torch.inf),
    }
    if best is None:
        return books
    columns, shape = best
    return books | {
        "best.rank": torch.full((count,), torch.inf),
        "best.scores": torch.full((count, columns), torch.nan),
        "best.latent": torch.zeros(count, *shape),
        "best.origin": zero.clone(),
        "best.spent": zero.clone(),
        "best.rounds": zero.clone(),
    }


def rows_of(table: State, keep: Tensor) -> State:
    """Some lanes of a table."""
    return {name: value[keep] for name, value in table.items()}


def joined(old: State, new: State) -> State:
    """A table with more lanes."""
    return {name: torch.cat([old[name], value]) for name, value in new.items()} if old else new


def left_behind(objective: Objective, memory: State) -> State | None:
    """What of the memories of searches a run will merge; None where it merges nothing."""
    if not isinstance(objective, Shares):
        return None
    return objective.leaves(memory) if isinstance(objective, Leaves) else memory
