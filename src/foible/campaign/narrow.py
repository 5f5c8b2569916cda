"""Which ordered pairs of classes still need attempts: one whose share is known well enough is left alone.

With `narrow` in the recipe a run that aims at classes goes in waves of `TURNS` attempts per pair. Before each wave the
share of every pair (escapes among accepted origins, within the latent distance that the recipe gives) is looked at, and a
pair whose 95 % interval is at most `width` wide gets no more attempts. What is looked at are the outcomes of earlier waves
alone, so that the result does not depend on lanes, workers or interruptions.

Looking again and again and stopping at a narrow interval makes it a little too narrow: read it as a guide to effort.
"""

from __future__ import annotations

from collections.abc import Sequence

from foible.campaign.assemble import Campaign
from foible.campaign.starts import class_pairs
from foible.errors import RecipeError
from foible.metrics.rates import rate
from foible.store import RunWriter
from foible.types import Arm

TURNS = 5  # attempts of each pair in a wave


def wave_size(campaign: Campaign) -> int:
    """Attempts in a wave: some for each pair."""
    pairs = class_pairs(campaign)
    if bool((pairs[:, 1] < 0).any()):
        raise RecipeError("narrow needs classes to aim at", 'add targets = [...] and oracle = "targeted"')
    return TURNS * len(pairs)


def still_open(campaign: Campaign, arm: Arm, writer: RunWriter, wave: range) -> list[int]:
    """The attempts of a wave whose pairs are not known well enough by the waves before it."""
    table = campaign.recipe.narrow
    assert table is not None
    pairs = [(label, target) for label, target in class_pairs(campaign).tolist()]
    searched: dict[tuple[int, int], list[bool]] = {}
    for attempt, label, target, distance in writer.searched(arm):
        if attempt < wave.start:
            near = distance is not None and (table.within is None or distance <= table.within)
            searched.setdefault((label, target), []).append(near)
    closed = {pair for pair, escaped in searched.items() if interval_width(escaped) <= table.width}
    return [k for k in wave if pairs[k % len(pairs)] not in closed]


def interval_width(escaped: Sequence[bool]) -> float:
    """How wide the 95 % interval of a share is.

    >>> interval_width([]), round(interval_width([True] * 20), 3)
    (1.0, 0.161)
    """
    share = rate(sum(escaped), len(escaped))
    return 1.0 if share.low is None or share.high is None else share.high - share.low
