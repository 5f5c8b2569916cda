"""How fast a campaign's networks are on this machine, and so how long a run can take at most."""

from __future__ import annotations

import time

import torch

from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import Evaluator
from foible.campaign.prepare import Rehearsal, batches_of


def evaluations_per_second(campaign: Campaign, seconds: float = 0.5) -> float:
    """Decode and classify for a moment, in the chunks that a run would use."""
    batches = batches_of(campaign)
    rows, evaluator = Rehearsal(campaign, batches.chunk), Evaluator(campaign, *batches)
    index = torch.arange(batches.chunk)
    price = int(evaluator.price(rows.proposal(evaluator, index)).sum())
    rows.evaluated(evaluator, index)  # the first call pays for warming up
    count, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds or count == 0:
        rows.evaluated(evaluator, index)
        count += price
    return count / elapsed


def most_evaluations(attempts: int, baseline_attempts: int, budget: int) -> int:
    """What a run costs if no origin ever fails."""
    return (attempts + min(attempts, baseline_attempts)) * budget
