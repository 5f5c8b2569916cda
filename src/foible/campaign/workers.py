"""Who computes: this process, or others. Whoever it is gives events; one recorder writes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch

from foible.batching import Packing
from foible.campaign.assemble import Campaign
from foible.campaign.engine import Engine
from foible.campaign.evaluate import Evaluator
from foible.campaign.events import Event, Shard
from foible.campaign.spec import EngineTable
from foible.store.layout import Layout
from foible.store.manifest import read_manifest


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


@contextmanager
def workers_of(engine: EngineTable, threads: int, there: Workers | None = None) -> Iterator[Workers]:
    """Those that are there, or that a recipe asks for, of so many threads each, for as long as they are needed."""
    if there or not engine.workers:
        yield there or Serial()
        return
    from foible.campaign.over_ray import RayWorkers

    with RayWorkers(engine, threads) as workers:
        yield workers


def threads_of(engine: EngineTable, folder: Path | None = None) -> int:
    """How many threads each process computes with.

    Another number may change last bits: other processes keep to that of a run they go on with. Where nobody says, those of
    this machine are shared out among its workers; on a cluster each has one.
    """
    if engine.threads:
        return engine.threads
    if not engine.workers:
        return torch.get_num_threads()
    if folder is not None and Layout(folder).manifest.exists():
        return read_manifest(folder).threads
    if engine.address or engine.workers == "ray":
        return 1
    return max(1, torch.get_num_threads() // engine.workers)


@contextmanager
def computing_with(threads: int) -> Iterator[None]:
    """This process with so many threads, as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
