"""Workers in other processes and on other machines, through Ray's own scheduler. Nothing else in foible knows of Ray.

This process deals attempts out and is alone in writing; a worker loads the models once and streams what happens. One that
dies is started again by Ray, here or elsewhere, and its attempts are run again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from foible.batching import Packing
from foible.campaign.assemble import Campaign, Given, assemble
from foible.campaign.dealing import Dealer, folded
from foible.campaign.engine import OutOfTime
from foible.campaign.events import Event, Shard
from foible.campaign.rehearse import candidates_per_round, lanes_of
from foible.campaign.spec import EngineTable, Recipe
from foible.campaign.trust import must_be_equal
from foible.campaign.workers import Job, Serial
from foible.errors import FoibleError, MissingExtra, ModelError, RecipeError
from foible.store.manifest import versions
from foible.types import Arm

TELL_SECONDS = 0.2  # between two messages of a worker
PATIENCE = 600.0  # seconds until somebody must have begun: a cluster may have to start machines first
REST = 1.0  # seconds until one that was lost is asked again: Ray is starting it anew


@dataclass(frozen=True)
class Order:
    """All that a worker must know of a job to make its own campaign of it, and to notice that it is not the same."""

    recipe: Recipe
    given: Given
    digests: dict[str, str]
    versions: dict[str, str]
    chunk: int
    packing: Packing
    threads: int
    home: Path


class Worker:
    """Lives in a process of its own: keeps the models of one job, and runs pieces of it."""

    def __init__(self) -> None:
        self.key = ""
        self.job: Job | None = None

    def run(self, key: str, order: list[Any], shard: Shard, shared: list[Any], seconds: float) -> Iterator[list[Event]]:
        """Run a piece and stream what happens; order and shared memory come as references, fetched when needed.

        Raises:
            OutOfTime: when the seconds are over, after the states of unfinished searches were given.
        """
        import ray

        if key != self.key or self.job is None:
            self.job, self.key = _loaded(ray.get(order[0])), key
        yield []  # says that it has begun
        job = Job(self.job.campaign, self.job.chunk, self.job.packing, time.monotonic() + seconds)
        whole = Shard(shard.arm, shard.attempts, shard.saved, ray.get(shared[0]))
        events: list[Event] = []
        told, late = time.monotonic(), False
        try:
            for said in Serial().run(job, whole):
                events += said
                if time.monotonic() - told > TELL_SECONDS:
                    yield folded(events)
                    events, told = [], time.monotonic()
        except OutOfTime:
            late = True
        yield folded(events)
        if late:
            raise OutOfTime


def _loaded(order: Order) -> Job:
    """The job, with models of this machine; they must be the ones that the run was begun with."""
    torch.set_num_threads(order.threads)
    if order.home.is_dir():  # relative paths mean the same as where the run was started
        os.chdir(order.home)
    must_be_equal("package", versions(), order.versions)
    campaign = assemble(order.recipe, order.given.generator, classifiers=order.given.classifiers)
    must_be_equal("file", campaign.digests, order.digests)
    return Job(campaign, order.chunk, order.packing, 0.0)


class RayWorkers:
    """As many workers as a recipe asks for, on this machine or on the cluster at its address."""

    def __init__(self, engine: EngineTable, threads: int) -> None:
        self.engine, self.threads = engine, threads
        self.ray = _ray()
        self.hands: list[Any] = []
        self.order: tuple[Job, str, Any] | None = None
        self.begun = False
        self.down: dict[int, float] = {}  # who was lost and has not been heard since, and when
        self.rests: dict[int, float] = {}  # until when they are left alone

    def __enter__(self) -> RayWorkers:
        self.mine = not self.ray.is_initialized()
        if self.mine:
            _connect(self.ray, self.engine, self.threads)
        actor = self.ray.remote(Worker)
        self.hands = [actor.options(**asked_of_ray(self.engine, self.threads)).remote() for _ in range(self._count())]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for hand in self.hands:
            self.ray.kill(hand)
        if self.mine:
            self.ray.shutdown()

    def run(self, job: Job, shard: Shard) -> Iterator[list[Event]]:
        """Deal the attempts out and pass on what is heard, until every attempt has ended."""
        dealer = Dealer(shard, len(self.hands), _least(job, shard.arm))
        call = (*self._ordered(job), [self.ray.put(dict(shard.shared))])
        streams: dict[Any, int] = {}
        late = False
        try:
            while True:
                if not late:
                    self._deal(dealer, streams, call, job.deadline)
                if not streams and (late or not dealer.todo):
                    break
                stream = self._next(list(streams), waiting=bool(dealer.todo))
                if stream is None:
                    continue
                hand = streams[stream]
                try:
                    events = self.ray.get(next(stream))
                except StopIteration:
                    dealer.ended(streams.pop(stream))
                except self.ray.exceptions.RayTaskError as error:
                    del streams[stream]
                    if not isinstance(error.cause, OutOfTime):
                        raise (error.cause if isinstance(error.cause, FoibleError) else error) from None
                    late = True
                except self.ray.exceptions.RayError:
                    self._lost(dealer, streams.pop(stream))
                else:
                    self.down.pop(hand, None)
                    yield dealer.heard(hand, events)
        finally:
            for hand in streams.values():  # whoever is still at it: nobody listens any more
                self.ray.kill(self.hands[hand], no_restart=False)
        if late:
            raise OutOfTime

    def _deal(self, dealer: Dealer, streams: dict[Any, int], call: tuple[str, Any, Any], deadline: float) -> None:
        """Give everyone without work a piece."""
        key, order, shared = call
        now = time.monotonic()
        for number in set(range(len(self.hands))) - set(streams.values()):
            piece = dealer.deal(number) if self.rests.get(number, 0.0) <= now else None
            if piece is not None:
                seconds = deadline - time.monotonic()
                work = self.hands[number].run.options(num_returns="streaming")
                streams[work.remote(key, [order], piece, shared, seconds)] = number

    def _lost(self, dealer: Dealer, number: int) -> None:
        """One is gone: its piece is dealt again, and it is left alone until Ray has started it anew."""
        now = time.monotonic()
        dealer.taken_back(number, counted=number not in self.down)  # one that has not begun again has lost nothing more
        since = self.down.setdefault(number, now)
        if now - since > PATIENCE:
            raise ModelError(
                f"a worker was lost and has not begun again within {PATIENCE / 60:.0f} minutes",
                "its models may not load where Ray starts it; what was found is kept, and the same command goes on",
            )
        self.rests[number] = now + REST

    def _next(self, streams: list[Any], waiting: bool) -> Any:
        """The stream of whoever has something to tell; None where nobody has, and somebody may be asked again."""
        if not streams:  # all that are left were lost, and rest
            time.sleep(REST / 4)
            return None
        if waiting and self.begun:
            ready, _ = self.ray.wait(streams, num_returns=1, timeout=REST)
            return ready[0] if ready else None
        ready, _ = self.ray.wait(streams, num_returns=1, timeout=None if self.begun else PATIENCE)
        if not ready:
            raise RecipeError(
                f"no worker has begun within {PATIENCE / 60:.0f} minutes: each wants {asked_of_ray(self.engine, self.threads)}, "
                f"Ray has {self.ray.available_resources()} to give",
                "ask for less in [engine] (workers, threads, gpus), or add machines to the cluster",
            )
        self.begun = True
        return ready[0]

    def _ordered(self, job: Job) -> tuple[str, Any]:
        """The job where workers can fetch it: put there once."""
        if self.order is None or self.order[0] is not job:
            order = _order(job)
            try:
                reference = self.ray.put(order)
            except Exception as error:  # whatever an object says that cannot be copied
                raise ModelError(
                    f"a model that was handed over cannot be sent to workers: {type(error).__name__}: {error}",
                    "name it in the recipe instead (a file, or file.py:Name), or run it here: workers = 0",
                ) from error
            self.order = (job, reference.hex(), reference)
        return self.order[1], self.order[2]

    def _count(self) -> int:
        if isinstance(self.engine.workers, int):
            return self.engine.workers
        cores = int(self.ray.cluster_resources().get("CPU", 1))
        return max(1, cores // self.threads)


def _least(job: Job, arm: Arm) -> int:
    """The attempts that fill a chunk: whoever gets the last ones should not be long at it, nor compute for padding."""
    filling = -(-job.chunk // candidates_per_round(job.campaign, arm))
    return min(filling, lanes_of(job.campaign, arm, job.chunk) // 4)


def _order(job: Job) -> Order:
    campaign: Campaign = job.campaign
    return Order(
        recipe=campaign.recipe,
        given=campaign.given,
        digests=campaign.digests,
        versions=versions(),
        chunk=job.chunk,
        packing=job.packing,
        threads=torch.get_num_threads(),
        home=Path.cwd(),
    )


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    os.environ.setdefault(
        "RAY_worker_niceness", "0"
    )  # Ray's 15 would leave workers what every other program leaves over
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingExtra("ray", "ray", "running over several processes") from None
    return ray


def _connect(ray: Any, engine: EngineTable, threads: int) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "logging_level": "ERROR"}
    if engine.address is None:
        cores = engine.workers * threads if isinstance(engine.workers, int) else None
        ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
        return
    try:
        ray.init(address=engine.address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise RecipeError(
            f"no Ray cluster answers at '{engine.address}': {str(error).splitlines()[0]}",
            "start one with `ray start --head`, and name the address that it prints; left out: this machine",
        ) from error


def asked_of_ray(engine: EngineTable, threads: int) -> dict[str, Any]:
    """What Ray is asked for, per worker; one that dies is started again."""
    gpus = engine.gpus if engine.gpus is not None else 1.0 if engine.device.startswith("cuda") else 0.0
    return {"num_cpus": threads, "num_gpus": gpus, "max_restarts": -1}
