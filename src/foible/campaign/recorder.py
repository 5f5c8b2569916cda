"""The recorder: alone in writing a run. It takes the engine's events in batches, each committed whole."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass

from foible.campaign.events import Ended, Event, Found, Round, Saved, Shrunk
from foible.store import RunWriter
from foible.types import Arm

NOTE_SECONDS = 0.5  # between notes on progress in the run folder
NOTED_LANES = 200


@dataclass(frozen=True)
class Progress:
    """How far an arm is: sent after every round.

    `share` of the work, 0 to 1, supposes that the searches under way will use their whole budget.
    """

    arm: Arm
    done: int
    attempts: int
    found: int
    evaluations: int
    share: float


@dataclass(frozen=True)
class Scored:
    """What the scores of a run are: the objective's first column, and the value below which it means failure."""

    column: str = "score"
    goal: float | None = None


Listener = Callable[[Progress], None]


class Recorder:
    """Writes what the engine tells of one arm, and tells the listener how far it is.

    A batch is written by a thread of its own while the engine computes the next one, in order and one at a time. Nothing is
    told to the listener before it is committed, and where writing fails, the next call says so.
    """

    def __init__(
        self, writer: RunWriter, arm: Arm, attempts: int, budget: int, listen: Listener, scored: Scored | None = None
    ) -> None:
        self.writer, self.arm, self.attempts, self.budget, self.listen = writer, arm, attempts, budget, listen
        self.scored = scored or Scored()
        self.done, self.found = len(writer.done(arm)), writer.found(arm)
        self.evaluations = 0
        self.begun, self.noted = time.monotonic(), 0.0
        self.thread = ThreadPoolExecutor(1, "recorder")
        self.under_way: Future[list[Progress]] | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self.thread.shutdown()  # what was handed over is committed, whatever happened

    def write(self, events: Iterable[Event]) -> None:
        """Have a batch committed, all or nothing, once the one before is; pass on how far the run was then."""
        before = self.under_way.result() if self.under_way else []
        self.under_way = self.thread.submit(self._commit, list(events))
        self._tell(before)

    def flush(self) -> None:
        """Wait until everything is committed."""
        if self.under_way:
            last, self.under_way = self.under_way.result(), None
            self._tell(last)

    def _tell(self, reached: Iterable[Progress]) -> None:
        for progress in reached:
            self.listen(progress)

    def _commit(self, events: list[Event]) -> list[Progress]:
        """In the recorder's thread: files first, then one transaction; how far the run is after each round of it."""
        reached = []
        with self.writer.transaction():
            for event in events:
                if isinstance(event, Round):
                    reached.append(self._reached(event))
                else:
                    self._write(event)
        return reached

    def _write(self, event: Found | Ended | Saved | Shrunk) -> None:
        if isinstance(event, Found):
            self.writer.add_finding(event.finding, event.origin_png, event.png)
            self.found += 1
        elif isinstance(event, Ended):
            self.writer.add_outcome(event.outcome, event.memory)
            self.done += 1
        elif isinstance(event, Saved):
            self.writer.add_checkpoints(event.arm, event.states)
        else:
            self.writer.add_note(f"memory ran out: chunks of {event.new} instead of {event.old} from here on")

    def _reached(self, event: Round) -> Progress:
        self.evaluations += event.evaluations
        under_way = float(event.spent.sum()) / self.budget
        share = (self.done + under_way) / self.attempts
        progress = Progress(self.arm, self.done, self.attempts, self.found, self.evaluations, share)
        if time.monotonic() - self.noted > NOTE_SECONDS:
            self._note(progress, event)
        return progress

    def _note(self, progress: Progress, event: Round) -> None:
        """Leave word in the run folder for whoever watches: how far, how fast, and each search under way."""
        columns = (event.attempts, event.labels, event.spent, event.lowest)
        rows = zip(*(c[:NOTED_LANES].tolist() for c in columns), strict=True)
        lanes = [row for row in rows if math.isfinite(row[-1])]  # a lane that has just been filled has no score yet
        self.noted = time.monotonic()
        about = asdict(self.scored) | {"seconds": self.noted - self.begun, "lanes": lanes}
        self.writer.note_progress(asdict(progress) | about)
