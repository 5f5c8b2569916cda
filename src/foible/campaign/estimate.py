"""How fast a campaign's networks are on this machine, and so how long a run can take at most."""

from __future__ import annotations

import time

import torch

from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import Evaluator
from foible.campaign.prepare import chunk_size


def evaluations_per_second(campaign: Campaign, seconds: float = 0.5) -> float:
    """Decode, classify and score for a moment, in the chunks that a run would use."""
    size = chunk_size(campaign)
    labels = torch.zeros(size, dtype=torch.long)
    latents = campaign.generator.sample(labels, campaign.streams.at("measure"))
    evaluator = Evaluator(campaign, size)
    evaluator(latents, labels)  # the first call pays for warming up
    count, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds or count == 0:
        evaluator(latents, labels)
        count += size
    return count / elapsed


def most_evaluations(attempts: int, baseline_attempts: int, budget: int) -> int:
    """What a run costs if no origin ever fails."""
    return (attempts + min(attempts, baseline_attempts)) * budget
