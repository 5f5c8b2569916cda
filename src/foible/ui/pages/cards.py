"""Findings as cards, remembered: a page that is drawn every second should not read its pictures again."""

from __future__ import annotations

from collections import OrderedDict

from foible.report.gallery import Card, card_of
from foible.store import Run
from foible.types import Arm

REMEMBERED = 500
_memory: OrderedDict[tuple[str, str, str, int], Card] = OrderedDict()


def card(run: Run, attempt: int, arm: Arm = Arm.SEARCH) -> Card:
    """A finding ready to be shown."""
    key = (str(run.layout.folder), run.manifest.created, str(arm), attempt)
    known = _memory.get(key)
    if known is not None:
        return known
    made = card_of(run, run.finding(attempt, arm))
    if not made.damage:
        _memory[key] = made
        while len(_memory) > REMEMBERED:
            _memory.popitem(last=False)
    return made
