"""Findings as cards, remembered: a page that is drawn every second should not read its pictures again."""

from __future__ import annotations

from collections import OrderedDict

from foible.records import Key
from foible.report.gallery import Card, card_of
from foible.store import Run
from foible.types import Arm

REMEMBERED = 500
_memory: OrderedDict[tuple[str, str, str, Key], Card] = OrderedDict()


def card(run: Run, key: Key, arm: Arm = Arm.SEARCH) -> Card:
    """A finding ready to be shown."""
    name = (str(run.layout.folder), run.manifest.created, str(arm), key)
    known = _memory.get(name)
    if known is not None:
        return known
    made = card_of(run, run.finding(key, arm))
    if not made.damage:
        _memory[name] = made
        while len(_memory) > REMEMBERED:
            _memory.popitem(last=False)
    return made
