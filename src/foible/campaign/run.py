"""A campaign from its first image to its last: arms, waves, and who computes.

The search comes first, then the baseline on the same attempts with the same budget. Where the objective shares what its
searches remember, attempts go in waves, and what is shared is merged between them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from foible.batching import Packing
from foible.campaign.assemble import Campaign
from foible.campaign.check import check
from foible.campaign.engine import OutOfTime
from foible.campaign.events import Shard
from foible.campaign.narrow import still_open, wave_size
from foible.campaign.prepare import prepare
from foible.campaign.recorder import Listener, Progress, Recorder, Scored
from foible.campaign.workers import Job, Workers, computing_with, threads_of, workers_of
from foible.errors import RecipeError
from foible.faces import Aims, Shares
from foible.protocols import Setting
from foible.store import RunWriter
from foible.types import Arm, State

__all__ = ["Listener", "Progress", "run"]


def run(campaign: Campaign, folder: Path, listen: Listener = lambda _: None, workers: Workers | None = None) -> str:
    """Run a campaign into a folder, or go on where it stopped.

    Args:
        campaign: what to run.
        folder: where it goes.
        listen: called with the progress after every round.
        workers: who computes; left out: those that the recipe asks for, for this run alone.

    Returns:
        The state the run is left in: "complete", "out of time" or "interrupted".
    """
    check(campaign).must_pass()
    engine = campaign.recipe.engine
    threads = threads_of(engine, folder)
    deadline = time.monotonic() + (campaign.budget.seconds or float("inf"))
    with computing_with(threads), RunWriter(folder, prepare(campaign, folder)) as writer:
        job = Job(campaign, writer.manifest.chunk, Packing(writer.manifest.packing), deadline)
        state = "failed"
        try:
            with workers_of(engine, threads, workers) as hands:
                for arm in campaign.searches:
                    _run_arm(job, arm, writer, hands, listen)
            state = "complete"
        except OutOfTime:
            state = "out of time"
        except KeyboardInterrupt:
            state = "interrupted"
        finally:
            writer.close_with(state)
        return state


def _run_arm(job: Job, arm: Arm, writer: RunWriter, workers: Workers, listen: Listener) -> None:
    campaign = job.campaign
    objective = campaign.objective
    scored = Scored(objective.names[0], objective.goal if isinstance(objective, Aims) else None)
    with Recorder(writer, arm, campaign.attempts[arm], campaign.budget.evaluations, listen, scored) as recorder:
        for shard in _waves(campaign, arm, writer):
            for events in workers.run(job, shard):
                recorder.write(events)
            recorder.flush()


def _waves(campaign: Campaign, arm: Arm, writer: RunWriter) -> Iterator[Shard]:
    """The attempts without an outcome, wave by wave; all in one where nothing is shared and no pair may be left alone.

    What a wave shares is in the store before its first search begins, so that a run goes on exactly where it stopped.
    """
    objective, total = campaign.objective, campaign.attempts[arm]
    if campaign.recipe.narrow is not None:
        yield from _narrowing(campaign, arm, writer)
        return
    if not isinstance(objective, Shares):
        yield _shard(arm, range(total), writer, {})
        return
    size = campaign.recipe.wave
    wave, shared = writer.shared(arm) or (0, None)
    if shared is None:
        shared = objective.start(Setting(campaign.roles, campaign.data, campaign.device))
        writer.share(arm, 0, shared)
    for number in range(wave, -(-total // size)):
        yield _shard(arm, range(number * size, min(total, (number + 1) * size)), writer, shared)
        ended = writer.memories(arm)
        if ended:
            shared = objective.merge(shared, {k: torch.stack([memory[k] for memory in ended]) for k in ended[0]})
        writer.share(arm, number + 1, shared)


def _narrowing(campaign: Campaign, arm: Arm, writer: RunWriter) -> Iterator[Shard]:
    """Waves without the pairs of classes whose share is known well enough."""
    if isinstance(campaign.objective, Shares):
        raise RecipeError(
            f"narrow and the objective '{campaign.recipe.objective.use}' both go in waves", "leave one of them out"
        )
    total, size = campaign.attempts[arm], wave_size(campaign)
    for start in range(0, total, size):
        wave = range(start, min(total, start + size))
        if open_attempts := still_open(campaign, arm, writer, wave):
            yield _shard(arm, open_attempts, writer, {})


def _shard(arm: Arm, attempts: Iterable[int], writer: RunWriter, shared: State) -> Shard:
    done, checkpointed = writer.done(arm), writer.checkpointed(arm)
    todo = tuple(k for k in attempts if k not in done)
    saved = {k: state for k in todo if k in checkpointed and (state := writer.checkpoint(arm, k)) is not None}
    return Shard(arm, todo, saved, shared)
