"""Before the first image: measure the fastest chunk, and write down what the run is."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path

import torch
from platformdirs import user_cache_path

from foible.batching import CHUNKS, fastest_chunk
from foible.campaign.assemble import Campaign
from foible.campaign.evaluate import Evaluator
from foible.files import write_whole
from foible.protocols import Lanes
from foible.store.layout import Layout
from foible.store.manifest import Manifest, now, read_manifest, versions
from foible.types import Arm, Feedback, OriginBatch


def prepare(campaign: Campaign, folder: Path) -> Manifest:
    """The manifest of a campaign; a run that exists keeps the chunk it was begun with."""
    began = Layout(folder).manifest.exists()
    return Manifest(
        recipe=campaign.recipe.resolved(),
        digests=campaign.digests,
        data=f"{campaign.data.source}, {len(campaign.data.labels)} images",
        classes=campaign.domain.classes,
        shape=campaign.domain.shape,
        chunk=read_manifest(folder).chunk if began else chunk_size(campaign),
        device=str(campaign.device),
        threads=torch.get_num_threads(),
        versions=versions(),
        created=now(),
    )


def chunk_size(campaign: Campaign) -> int:
    """The recipe's chunk, or the fastest one: measured once per pair of models and machine, then remembered."""
    if isinstance(campaign.recipe.engine.chunk, int):
        return campaign.recipe.engine.chunk
    if own := getattr(campaign.classifier, "chunk", None):
        return int(own)  # a classifier that is paid by the request knows best
    memory = _memory_path()
    known: dict[str, int] = json.loads(memory.read_text()) if memory.is_file() else {}
    key = _machine_key(campaign)
    if key not in known:
        known[key] = _measured(campaign)
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_whole(memory, json.dumps(known, indent=1))
    return known[key]


def _memory_path() -> Path:
    folder = os.environ.get("FOIBLE_CACHE")
    return (Path(folder) if folder else user_cache_path("foible")) / "chunks.json"


def _machine_key(campaign: Campaign) -> str:
    rounds = [_candidates_per_round(campaign), campaign.recipe.engine.lanes]
    machine = [
        platform.machine(),
        platform.processor(),
        str(campaign.device),
        torch.get_num_threads(),
        torch.__version__,
        rounds,
        sorted(campaign.digests.items()),
    ]
    return hashlib.sha256(json.dumps(machine).encode()).hexdigest()[:16]


def _measured(campaign: Campaign) -> int:
    labels = torch.zeros(max(CHUNKS), dtype=torch.long)
    latents = campaign.generator.sample(labels, campaign.streams.at("measure"))

    def render(size: int) -> None:
        Evaluator(campaign, size)(latents[:size], labels[:size])

    candidates, lanes = _candidates_per_round(campaign), campaign.recipe.engine.lanes
    return fastest_chunk(render, [candidates * max(1, lanes // part) for part in (1, 1, 1, 2, 4, 8, 16, lanes)])


def _candidates_per_round(campaign: Campaign) -> int:
    """How many candidates the search asks for per origin once it is under way."""
    space, search = campaign.generator.space, campaign.searches[Arm.SEARCH]
    lanes = Lanes(
        OriginBatch(torch.zeros(1).long(), torch.zeros(1).long(), torch.zeros(1, *space.shape)), space, campaign.streams
    )
    state = search.begin(lanes)
    first = search.ask(state, lanes)
    feedback = Feedback(
        torch.zeros(len(first.lanes), len(campaign.objective.names)), torch.zeros(len(first.lanes)).bool()
    )
    return len(search.ask(search.tell(state, lanes, first, feedback), lanes).lanes)
