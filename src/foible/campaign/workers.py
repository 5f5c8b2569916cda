"""Who computes: this process, or others. Whoever it is gives events; one recorder writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from foible.batching import Packing
from foible.campaign.assemble import Campaign
from foible.campaign.engine import Engine
from foible.campaign.evaluate import Evaluator
from foible.campaign.events import Event, Shard


@dataclass(frozen=True)
class Job:
    """What all shards of a run have in common: the campaign, how rows are packed, and when time is up (monotonic)."""

    campaign: Campaign
    chunk: int
    packing: Packing
    deadline: float


class Workers(Protocol):
    """Runs the attempts of a shard, wherever."""

    def run(self, job: Job, shard: Shard) -> Iterator[list[Event]]:
        """What happens, in batches that belong together; the order of attempts does not matter."""
        ...


class Serial:
    """This process, one engine."""

    def run(self, job: Job, shard: Shard) -> Iterator[list[Event]]:
        """Run the engine here."""
        evaluator = Evaluator(job.campaign, job.chunk, job.packing, shard.arm)
        yield from Engine(job.campaign, evaluator, shard, job.deadline).run()
