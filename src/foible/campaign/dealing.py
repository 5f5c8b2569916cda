"""Dealing the attempts of a shard out to several workers, and putting together what they tell.

Nothing here knows what a worker is. Attempts are handed out in pieces that get smaller towards the end, so that all
workers finish at about the same time; what a lost worker had not ended goes back, with the states it had saved. No finding
depends on who ran what.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

import torch

from foible.campaign.events import Ended, Event, Found, Round, Saved, Shard
from foible.errors import ModelError

LOSSES = 3  # times that an attempt may be lost with its worker before it is taken for the reason
SHARES = 2  # a piece is this part of what would be each worker's share of the rest


class Dealer:
    """The books of one shard.

    Args:
        shard: all attempts.
        workers: how many there are.
        least: attempts in a piece, but where there are fewer for everyone; smaller ones would leave batches empty.
    """

    def __init__(self, shard: Shard, workers: int, least: int) -> None:
        self.shard, self.workers = shard, workers
        self.todo = list(shard.attempts)
        self.least = max(1, min(least, -(-len(self.todo) // workers)))
        self.saved = dict(shard.saved)
        self.under_way: dict[Hashable, list[int]] = {}
        self.rounds: dict[Hashable, Round] = {}
        self.lost: Counter[int] = Counter()
        self.found: defaultdict[int, set[int]] = defaultdict(set)  # numbers of the findings of unfinished attempts

    def deal(self, worker: Hashable) -> Shard | None:
        """The next attempts for a worker, without what the run shares; None where all have been dealt."""
        if not self.todo:
            return None
        size = max(self.least, -(-len(self.todo) // (SHARES * self.workers)))
        piece, self.todo = self.todo[:size], self.todo[size:]
        self.under_way[worker] = piece
        return Shard(self.shard.arm, tuple(piece), {k: self.saved.pop(k) for k in piece if k in self.saved})

    def heard(self, worker: Hashable, events: Sequence[Event]) -> list[Event]:
        """What a worker tells, as the recorder wants it: a failure once, and one round over all workers."""
        told: list[Event] = []
        for event in events:
            if isinstance(event, Round):
                self.rounds[worker] = event
                told.append(self._over_all(event.evaluations))
                continue
            if isinstance(event, Found):
                numbers = self.found[event.finding.attempt]
                if event.finding.number in numbers:  # of an attempt that is run again
                    continue
                numbers.add(event.finding.number)
            elif isinstance(event, Ended):
                self._forget(worker, event.outcome.attempt)
            elif isinstance(event, Saved):
                self.saved |= event.states
                for attempt in event.states:
                    self.lost.pop(attempt, None)
            told.append(event)
        return told

    def ended(self, worker: Hashable) -> None:
        """A worker has done its piece."""
        del self.under_way[worker]
        self.rounds.pop(worker, None)

    def taken_back(self, worker: Hashable, counted: bool = True) -> None:
        """A worker is gone: what it had not ended is dealt again, from where it was saved.

        Args:
            worker: who.
            counted: whether its attempts may have been the reason.

        Raises:
            ModelError: where the same attempts were lost too often.
        """
        piece = self.under_way.pop(worker)
        self.rounds.pop(worker, None)
        self.lost.update(piece if counted else ())
        hopeless = [k for k in piece if self.lost[k] >= LOSSES]
        if hopeless:
            named = ", ".join(map(str, hopeless[:5])) + (", ..." if len(hopeless) > 5 else "")
            raise ModelError(
                f"workers were lost {LOSSES} times in a row at the same attempts: {named}",
                "a model may crash or need more memory than there is: try fewer workers or lanes, or workers = 0; "
                "what was found is kept",
            )
        self.todo = piece + self.todo

    def _forget(self, worker: Hashable, attempt: int) -> None:
        """An attempt has ended: memory does not grow with their number."""
        self.under_way[worker].remove(attempt)
        for table in (self.saved, self.found, self.lost):
            table.pop(attempt, None)

    def _over_all(self, evaluations: int) -> Round:
        last = list(self.rounds.values())
        columns = ("attempts", "labels", "spent", "lowest")
        return Round(self.shard.arm, evaluations, *(torch.cat([getattr(r, c) for r in last]) for c in columns))


def folded(events: Sequence[Event]) -> list[Event]:
    """What happened in several rounds as if in one: the rounds' costs added up, the searches under way as they are now."""
    rounds = [event for event in events if isinstance(event, Round)]
    others: list[Event] = [event for event in events if not isinstance(event, Round)]
    return [*others, replace(rounds[-1], evaluations=sum(r.evaluations for r in rounds))] if rounds else others
