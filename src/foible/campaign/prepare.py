"""Before the first image: measure how rows are best packed into chunks, and write down what the run is."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import platform
import time
from pathlib import Path
from typing import NamedTuple

import torch
from platformdirs import user_cache_path
from torch import Tensor

from foible.batching import CHUNKS, GRAIN, SLACK, Packing, fastest_chunk
from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import Evaluator
from foible.campaign.rehearse import candidates_per_round, lanes_of
from foible.faces import Batched
from foible.files import write_whole
from foible.protocols import Lanes
from foible.store.layout import Layout
from foible.store.manifest import Manifest, now, read_manifest, versions
from foible.types import Arm, Proposal, Starts, Want

LARGE = 128 * 128  # pixels: such an image fills a processor alone, and alone its bits depend on nothing else
TRIALS, TRIAL_SECONDS = 8, 1.0  # orders of the same rows that are compared: all of them, or at least two in this time

log = logging.getLogger(__name__)


class Batches(NamedTuple):
    """How rows go through the networks."""

    chunk: int
    packing: Packing


def prepare(campaign: Campaign, folder: Path) -> Manifest:
    """The manifest of a campaign; a run that exists keeps the chunks it was begun with."""
    batches = batches_of(campaign)
    if Layout(folder).manifest.exists():
        before = read_manifest(folder)
        batches = Batches(before.chunk, Packing(before.packing))
    return Manifest(
        recipe=campaign.recipe.resolved(),
        digests=campaign.digests,
        data=f"{campaign.data.source}, {len(campaign.data.labels)} images",
        classes=campaign.domain.classes,
        shape=campaign.domain.shape,
        chunk=batches.chunk,
        packing=batches.packing,
        device=str(campaign.device),
        threads=torch.get_num_threads(),
        versions=versions(),
        created=now(),
    )


def batches_of(campaign: Campaign) -> Batches:
    """The recipe's chunk or the fastest one, and the packing that these models need.

    Both are measured once per set of models and machine, then remembered.
    """
    wanted = campaign.recipe.engine.chunk
    if isinstance(campaign.classifier, Batched) and campaign.classifier.chunk and wanted == "auto":
        return Batches(campaign.classifier.chunk, Packing.FULL)  # one that is paid by the request knows best
    if wanted == "auto" and campaign.device.type == "cpu" and math.prod(campaign.domain.shape[1:]) > LARGE:
        return Batches(1, Packing.FULL)
    memory = _memory_path()
    known: dict[str, tuple[int, str]] = json.loads(memory.read_text()) if memory.is_file() else {}
    key = _machine_key(campaign)
    if key not in known:
        log.info("measuring how many images go through the models best at a time")
        known[key] = _measured(campaign)
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_whole(memory, json.dumps(known, indent=1))
    chunk, packing = known[key]
    return Batches(chunk, Packing(packing))


def _memory_path() -> Path:
    folder = os.environ.get("FOIBLE_CACHE")
    return (Path(folder) if folder else user_cache_path("foible")) / "batches.json"


def _machine_key(campaign: Campaign) -> str:
    machine = [
        platform.machine(),
        platform.processor(),
        torch.backends.cpu.get_cpu_capability(),
        str(campaign.device),
        torch.get_num_threads(),
        torch.__version__,
        [*CHUNKS, SLACK],
        candidates_per_round(campaign, Arm.SEARCH),
        campaign.recipe.engine.lanes,
        campaign.recipe.engine.chunk,
        [campaign.recipe.search.model_dump(), campaign.recipe.objective.model_dump()],
        sorted(campaign.digests.items()),
    ]
    return hashlib.sha256(json.dumps(machine).encode()).hexdigest()[:16]


def _measured(campaign: Campaign) -> Batches:
    wanted = campaign.recipe.engine.chunk
    packing = needed_packing(campaign, wanted if isinstance(wanted, int) else CHUNKS[0])
    if isinstance(wanted, int):
        return Batches(wanted, packing)
    rows = Rehearsal(campaign, max(CHUNKS))
    candidates, lanes = candidates_per_round(campaign, Arm.SEARCH), lanes_of(campaign, Arm.SEARCH, max(CHUNKS) // 8)
    rounds = [candidates * max(1, lanes // part) for part in (1, 1, 1, 2, 4, 8, 16, lanes)]
    most = max(CHUNKS[0], *(size for size in CHUNKS if size <= 2 * max(rounds)))
    sizes = [size for size in CHUNKS if size <= most]

    def render(size: int) -> None:
        rows.evaluated(Evaluator(campaign, size), torch.arange(size))

    return Batches(fastest_chunk(render, rounds, sizes, packing=packing), packing)


def needed_packing(campaign: Campaign, chunk: int) -> Packing:
    """Whether a row's bits depend, for these models on this processor, on its position in a chunk or on the chunk's size.

    Some elementwise functions treat the tail of an array differently, and a matrix product may take another path for
    another number of rows. The same rows are evaluated in several orders and numbers, and compared to the bit.
    """
    rows = Rehearsal(campaign, chunk)
    whole = Evaluator(campaign, chunk, Packing.FULL)
    inside = torch.arange(chunk)
    expected = rows.evaluated(whole, inside)
    deadline = time.monotonic() + TRIAL_SECONDS
    for trial in range(TRIALS):
        order = torch.randperm(chunk, generator=campaign.streams.at("packing", trial))
        if not torch.equal(rows.evaluated(whole, order), expected[order]):
            return Packing.APART
        if trial and time.monotonic() > deadline:
            break
    grains = Evaluator(campaign, chunk, Packing.GRAINS)
    for count in range(GRAIN, chunk, GRAIN):
        if not torch.equal(rows.evaluated(grains, inside[:count]), expected[:count]):
            return Packing.FULL
    return Packing.GRAINS


class Rehearsal:
    """Fresh latents, each in a lane of its own, and the numbers that the search would be told of them."""

    def __init__(self, campaign: Campaign, count: int) -> None:
        labels = torch.arange(count) % len(campaign.domain.classes)
        latents = campaign.generator.sample(labels, campaign.streams.at("measure"))
        starts = Starts(torch.arange(count), latents[:, None], labels[:, None], torch.full((count, 1), -1))
        self.lanes = Lanes(starts, campaign.generator.space, campaign.streams)

    def evaluated(self, evaluator: Evaluator, rows: Tensor) -> Tensor:
        """What the networks say of these rows, flat, one row each."""
        return evaluator.trace(self.proposal(evaluator, rows), self.lanes)

    def proposal(self, evaluator: Evaluator, rows: Tensor) -> Proposal:
        """These rows, and asked of them what the search will ask."""
        want = Want.GRADIENTS if evaluator.follows else Want.SCORES
        return Proposal(self.lanes.origins[rows], rows, wants=torch.full_like(rows, want))
