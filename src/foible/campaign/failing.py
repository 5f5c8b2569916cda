"""Which of the candidates of a round failed, and are worth a second look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from foible.types import Feedback, Latents, Proposal


@dataclass(frozen=True)
class Failing:
    """Candidates that fail, in rows: their lane, which origin they come from, latents and scores."""

    lanes: Tensor
    origins: Tensor
    latents: Latents
    scores: Tensor

    def __len__(self) -> int:
        return len(self.lanes)


def failing_rows(proposal: Proposal, feedback: Feedback, rank: int, keeps: str) -> Failing:
    """All candidates that fail, or where the best is wanted, per lane the one that is lowest in the ranking column."""
    shown = feedback.failed if proposal.shown is None else feedback.failed & proposal.shown
    rows = shown.nonzero()[:, 0]
    if keeps == "best" and len(rows):
        # a verdict alone has no score: it comes after those that have one
        order = feedback.scores[rows, rank].nan_to_num(nan=torch.inf).argsort(stable=True)
        rows = rows[order]
        _, first = np.unique(proposal.lanes[rows].numpy(), return_index=True)
        rows = rows[torch.from_numpy(first)]
    return Failing(proposal.lanes[rows], proposal.origins[rows], proposal.latents[rows], feedback.scores[rows])
