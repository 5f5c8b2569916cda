"""The loop. One file: ask, decode, classify, score, tell; judge what failed; store what ended; refill the lane."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from foible.campaign.assemble import Campaign
from foible.campaign.check import check
from foible.campaign.evaluate import Evaluator
from foible.campaign.judge import Suspects, judge
from foible.campaign.prepare import prepare
from foible.campaign.queue import OriginQueue
from foible.protocols import Lanes
from foible.store import RunWriter
from foible.types import Arm, Feedback, Finding, OriginBatch, Outcome, Proposal, State, Status

NOTE_SECONDS = 0.5  # between notes on progress in the run folder
NOTED_LANES = 200


@dataclass(frozen=True)
class Progress:
    """How far an arm is: sent after every round.

    `share` of the work, 0 to 1, supposes that the origins being searched will use their whole budget.
    """

    arm: Arm
    done: int
    attempts: int
    found: int
    evaluations: int
    share: float


Listener = Callable[[Progress], None]


class OutOfTime(Exception):
    """The campaign's seconds are spent."""


def run(campaign: Campaign, folder: Path, listen: Listener = lambda _: None) -> str:
    """Run a campaign into a folder, or go on where it stopped.

    The search comes first, then the baseline on the same attempts with the same budget.

    Returns:
        The state the run is left in: "complete", "out of time" or "interrupted".
    """
    check(campaign).must_pass()
    deadline = time.monotonic() + (campaign.budget.seconds or float("inf"))
    with RunWriter(folder, prepare(campaign, folder)) as writer:
        evaluator = Evaluator(campaign, writer.manifest.chunk)
        state = "failed"
        try:
            for arm in campaign.searches:
                ArmRun(campaign, evaluator, writer, arm, deadline, listen).run()
            state = "complete"
        except OutOfTime:
            state = "out of time"
        except KeyboardInterrupt:
            state = "interrupted"
        finally:
            writer.close_with(state)
        return state


class ArmRun:
    """One side of the comparison: the lanes being searched and what each has cost so far.

    `state` belongs to the search, `books` to the engine. Both are dictionaries of tensors with the lane first, which is
    all that refilling, checkpoints and resuming need.
    """

    def __init__(
        self, campaign: Campaign, evaluator: Evaluator, writer: RunWriter, arm: Arm, deadline: float, listen: Listener
    ) -> None:
        self.campaign, self.evaluator, self.writer, self.arm = campaign, evaluator, writer, arm
        self.search, self.deadline, self.listen = campaign.searches[arm], deadline, listen
        self.queue = OriginQueue(campaign, evaluator, writer, arm)
        self.lanes = self._lanes(
            OriginBatch(
                torch.empty(0, dtype=torch.long),
                torch.empty(0, dtype=torch.long),
                torch.empty(0, *campaign.generator.space.shape),
            )
        )
        self.state: State = {}
        self.books: State = {}
        self.found, self.evaluations = writer.found(arm), 0
        self.begun = self.saved = time.monotonic()
        self.noted = 0.0

    def run(self) -> None:
        """Search until every attempt has an outcome."""
        self._refill()
        while len(self.lanes.origins):
            proposal = self.search.ask(self.state, self.lanes)
            cost = torch.bincount(proposal.lanes, minlength=len(self.lanes.origins))
            broke = self.books["spent"] + cost > self.campaign.budget.evaluations
            if bool(broke.any()):
                self._finish(broke, {})
                self._tick()
                continue
            feedback = self.evaluator(proposal.latents, self.lanes.origins.labels[proposal.lanes])
            self._book(proposal, feedback, cost)
            findings, ended = self._judged(proposal, feedback)
            self.state = self.search.tell(self.state, self.lanes, proposal, feedback)
            self._finish(ended, findings)
            self._tick()

    def _book(self, proposal: Proposal, feedback: Feedback, cost: Tensor) -> None:
        looks = torch.zeros_like(cost)
        if feedback.looks is not None:
            looks = looks.index_add(0, proposal.lanes, feedback.looks)
        self.evaluations += len(proposal.lanes) + int(looks.sum())
        self.books["spent"] = self.books["spent"] + cost + looks
        self.books["rounds"] = self.books["rounds"] + 1
        self.books["lowest"] = self.books["lowest"].scatter_reduce(0, proposal.lanes, feedback.scores[:, 0], "amin")

    def _judged(self, proposal: Proposal, feedback: Feedback) -> tuple[dict[int, Finding], Tensor]:
        """Per lane, the lowest-scored failing candidate goes before the judge; which lanes have come to their end."""
        ended = torch.zeros(len(self.lanes.origins), dtype=torch.bool)
        failing = feedback.failed.nonzero()[:, 0]
        if len(failing) == 0:
            return {}, ended
        failing = failing[feedback.scores[failing, 0].argsort(stable=True)]
        lanes, first = np.unique(proposal.lanes[failing].numpy(), return_index=True)
        suspected, picks = torch.from_numpy(lanes), failing[torch.from_numpy(first)]
        self.books["suspected"] = self.books["suspected"].index_fill(0, suspected, True)
        self.books["spent"] = self.books["spent"].index_add(0, suspected, torch.ones_like(suspected))  # the second look
        suspects = Suspects(
            self.lanes.origins.rows(suspected),
            self.queue.look(self.lanes.origins.attempts[suspected]),
            proposal.latents[picks],
            self.books["spent"][suspected].tolist(),
            self.books["rounds"][suspected].tolist(),
        )
        findings = judge(self.evaluator, self.writer, self.arm, suspects)
        by_lane = {int(suspected[position]): finding for position, finding in findings.items()}
        ends = suspected if self.campaign.recipe.stop == "first" else torch.tensor(list(by_lane), dtype=torch.long)
        return by_lane, ended.index_fill(0, ends, True)

    def _finish(self, ended: Tensor, findings: dict[int, Finding]) -> None:
        """Record the lanes that have ended and give their places to the next origins."""
        lanes = ended.nonzero()[:, 0].tolist()
        if not lanes:
            return
        self.writer.record([self._outcome(lane, lane in findings) for lane in lanes], findings.values())
        self.found += len(findings)
        keep = (~ended).nonzero()[:, 0]
        self.lanes = self._lanes(self.lanes.origins.rows(keep))
        self.state = {k: v[keep] for k, v in self.state.items()}
        self.books = {k: v[keep] for k, v in self.books.items()}
        self._refill()

    def _outcome(self, lane: int, found: bool) -> Outcome:
        status = Status.FOUND if found else Status.LOST if bool(self.books["suspected"][lane]) else Status.HELD
        attempt, label = int(self.lanes.origins.attempts[lane]), int(self.lanes.origins.labels[lane])
        spent, rounds, lowest = (self.books[k][lane].item() for k in ("spent", "rounds", "lowest"))
        return Outcome(
            self.arm, attempt, label, self.queue.leave(attempt), status, label, int(spent), int(rounds), float(lowest)
        )

    def _refill(self) -> None:
        free = self.campaign.recipe.engine.lanes - len(self.lanes.origins)
        arrivals = self.queue.take(free)
        if len(arrivals) == 0:
            return
        lanes = self._lanes(arrivals)
        state = self.search.begin(lanes)
        books = {
            "spent": torch.zeros(len(arrivals), dtype=torch.long),
            "rounds": torch.zeros(len(arrivals), dtype=torch.long),
            "suspected": torch.zeros(len(arrivals), dtype=torch.bool),
            "lowest": torch.full((len(arrivals),), torch.inf),
        }
        for row, attempt in enumerate(arrivals.attempts.tolist()):
            saved = self.queue.checkpoint(attempt)
            for name, value in (saved or {}).items():
                owner, _, key = name.partition(".")
                (state if owner == "search" else books)[key][row] = value
        self.lanes = self._lanes(_joined_origins(self.lanes.origins, arrivals))
        self.state, self.books = _joined(self.state, state), _joined(self.books, books)

    def _tick(self) -> None:
        """After a round: tell the listener, save checkpoints now and then, mind the time."""
        attempts, budget = self.campaign.attempts[self.arm], self.campaign.budget.evaluations
        done = self.queue.drawn - len(self.lanes.origins) - self.queue.waiting
        under_way = float(self.books["spent"].sum()) / budget
        progress = Progress(self.arm, done, attempts, self.found, self.evaluations, (done + under_way) / attempts)
        self.listen(progress)
        if time.monotonic() - self.noted > NOTE_SECONDS:
            self._note(progress)
        late = time.monotonic() > self.deadline
        if late or time.monotonic() - self.saved > self.campaign.recipe.engine.checkpoint_seconds:
            named = {f"search.{k}": v for k, v in self.state.items()} | {
                f"engine.{k}": v for k, v in self.books.items()
            }
            rows = enumerate(self.lanes.origins.attempts.tolist())
            self.writer.save_checkpoints(self.arm, {a: {k: v[i].clone() for k, v in named.items()} for i, a in rows})
            self.saved = time.monotonic()
        if late:
            raise OutOfTime

    def _note(self, progress: Progress) -> None:
        """Leave word in the run folder for whoever watches: how far, how fast, and each origin under way."""
        origins, books = self.lanes.origins, self.books
        columns = (origins.attempts, origins.labels, books["spent"], books["lowest"])
        rows = zip(*(c[:NOTED_LANES].tolist() for c in columns), strict=True)
        lanes = [row for row in rows if math.isfinite(row[-1])]  # a lane that has just been filled has no score yet
        self.noted = time.monotonic()
        self.writer.note_progress(asdict(progress) | {"seconds": self.noted - self.begun, "lanes": lanes})

    def _lanes(self, origins: OriginBatch) -> Lanes:
        return Lanes(origins, self.campaign.generator.space, self.campaign.streams)


def _joined(old: State, new: State) -> State:
    return {k: torch.cat([old[k], v]) for k, v in new.items()} if old else new


def _joined_origins(old: OriginBatch, new: OriginBatch) -> OriginBatch:
    return OriginBatch(
        torch.cat([old.attempts, new.attempts]),
        torch.cat([old.labels, new.labels]),
        torch.cat([old.latents, new.latents]),
    )
