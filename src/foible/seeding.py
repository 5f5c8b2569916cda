"""Randomness without state: a campaign seed and an address give a stream, always the same one.

A stream is addressed by purpose, attempt and round, so the draws of attempt k in round r depend on
nothing else: not on lanes, chunks, workers, or what was interrupted. There is no state to save.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Streams:
    """Independent random streams of one campaign."""

    seed: int

    def at(self, purpose: str, *address: int) -> torch.Generator:
        """The stream at an address such as ("breed", attempt, round)."""
        key = (zlib.crc32(purpose.encode()), *address)
        word = np.random.SeedSequence(self.seed, spawn_key=key).generate_state(1, np.uint64)[0]
        return torch.Generator().manual_seed(int(word) & 0x7FFF_FFFF_FFFF_FFFF)

    def each(self, purpose: str, attempts: Tensor, rounds: Tensor) -> list[torch.Generator]:
        """One stream per lane."""
        return [self.at(purpose, a, r) for a, r in zip(attempts.tolist(), rounds.tolist(), strict=True)]


def normal(streams: list[torch.Generator], shape: tuple[int, ...]) -> Tensor:
    """Standard normal numbers (lanes, *shape), each lane from its own stream."""
    out = torch.empty((len(streams), *shape))
    for row, stream in zip(out, streams, strict=True):
        row.normal_(generator=stream)
    return out


def uniform(streams: list[torch.Generator], shape: tuple[int, ...]) -> Tensor:
    """Uniform numbers in [0, 1) (lanes, *shape), each lane from its own stream."""
    out = torch.empty((len(streams), *shape))
    for row, stream in zip(out, streams, strict=True):
        row.uniform_(generator=stream)
    return out
