"""The loop. One file: ask, decode, classify, score, tell; confirm what failed; tell what ended; refill the lane.

The engine computes and owns no file. It gives events (`campaign/events.py`) to whoever writes them down, so that it can
as well run in another process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import torch
from torch import Tensor

from foible.campaign.assemble import Campaign
from foible.campaign.books import blank_books, joined, left_behind, rows_of
from foible.campaign.confirm import Suspects, confirm
from foible.campaign.evaluate import Evaluator
from foible.campaign.events import Ended, Event, Round, Saved, Shard, Shrunk
from foible.campaign.failing import Failing, failing_rows
from foible.campaign.rehearse import lanes_of
from foible.campaign.starts import StartQueue
from foible.errors import RecipeError
from foible.faces import Remembers
from foible.protocols import Lanes
from foible.records import Outcome
from foible.types import TESTED, Arm, Feedback, Proposal, Starts, State, Status

PATIENCE = 1.0  # seconds that a failure may wait for others to be confirmed with it


class OutOfTime(Exception):
    """The campaign's seconds are spent."""


class Engine:
    """Searches the attempts of a shard.

    `state` belongs to the search, `memory` to the objective and `books` to the engine. All are dictionaries of tensors with
    the lane first, which is all that refilling, checkpoints and resuming need.
    """

    def __init__(self, campaign: Campaign, evaluator: Evaluator, shard: Shard, deadline: float) -> None:
        self.campaign, self.evaluator, self.shard, self.deadline = campaign, evaluator, shard, deadline
        self.search, self.recipe = campaign.searches[shard.arm], campaign.recipe
        self.objective = campaign.objective
        self.most = lanes_of(campaign, shard.arm, evaluator.chunks.size)
        self.queue = StartQueue(campaign, evaluator, shard.arm, shard.attempts)
        self.lanes = self._lanes(Starts.none(campaign.generator.space.shape, self.queue.count))
        self.state: State = {}
        self.memory: State = {}
        self.books: State = {}
        self.late = self.recipe.ends != "confirmed" and self.recipe.keeps == "best"  # confirm when a search is over
        self.waiting: list[tuple[Suspects, list[Ended]]] = []  # searches that are over, their best not yet confirmed
        self.events: list[Event] = []
        self.evaluations = 0
        self.saved = self.confirmed = time.monotonic()
        for chunks in (evaluator.chunks, evaluator.few):
            chunks.shrunk = lambda old, new: self.events.append(Shrunk(old, new))

    def run(self) -> Iterator[list[Event]]:
        """Search until every attempt has ended; gives what happened, round by round.

        Raises:
            OutOfTime: at the deadline, after the states of unfinished searches were given.
        """
        self._refill()
        while len(self.lanes):
            self._round()
            if self._enough_wait():
                self._confirm_waiting()
            late = time.monotonic() > self.deadline
            self._save(late)
            yield self._told()
            if late:
                raise OutOfTime
        self._confirm_waiting()
        yield self._told()

    def _round(self) -> None:
        proposal = self.search.ask(self.state, self.lanes)
        self._refuse_unfit(proposal)
        price = self._per_lane(proposal, self.evaluator.price(proposal))
        broke = self.books["spent"] + price > self.campaign.budget.evaluations
        if bool(broke.any()):
            self._end(broke)
            return
        feedback = self.evaluator(proposal, self.lanes, self.memory, self.shard.shared)
        self._book(proposal, feedback)
        ended = self._look_at_failures(proposal, feedback)
        self.state = self.search.tell(self.state, self.lanes, proposal, feedback)
        if isinstance(self.objective, Remembers):
            self.memory = self.objective.absorb(self.memory, self.lanes, proposal, feedback)
        if "done" in self.state:
            ended = ended | self.state["done"]
        self._end(ended)

    def _book(self, proposal: Proposal, feedback: Feedback) -> None:
        books = self.books
        books["spent"] = books["spent"] + self._per_lane(proposal, feedback.cost)
        books["rounds"] = books["rounds"] + 1
        scores = feedback.scores[:, 0].nan_to_num(
            nan=torch.inf
        )  # what a search goes down, whatever findings are ranked by
        books["lowest"] = books["lowest"].scatter_reduce(0, proposal.lanes, scores, "amin")
        self.evaluations += int(feedback.cost.sum())

    def _look_at_failures(self, proposal: Proposal, feedback: Feedback) -> Tensor:
        """Confirm what failed, or keep the best of it for later; gives which lanes (L,) have come to their end."""
        ended = torch.zeros(len(self.lanes), dtype=torch.bool)
        failing = failing_rows(proposal, feedback, self.campaign.rank, self.recipe.keeps)
        if len(failing) == 0:
            return ended
        self.books["suspected"] = self.books["suspected"].index_fill(0, failing.lanes, True)
        confirmed = self._kept_for_later(failing) if self.late else self._confirmed(failing)
        if self.recipe.ends == "never":
            return ended
        return ended.index_fill(0, failing.lanes if self.recipe.ends == "first" else confirmed, True)

    def _confirmed(self, failing: Failing) -> Tensor:
        """Confirm failures at once, each at the price of one evaluation; gives the lanes in which something was found."""
        lanes = failing.lanes
        self.books["spent"] = self.books["spent"].index_add(0, lanes, torch.ones_like(lanes))
        self.evaluations += len(lanes)
        suspects = self._suspects(failing, self.books["spent"][lanes], self.books["rounds"][lanes])
        said = confirm(self.evaluator, self.shard.arm, suspects)
        self.events += [event for event in said if event is not None]
        there = lanes[[event is not None for event in said]]
        self.books["found"] = self.books["found"].index_add(0, there, torch.ones_like(there))
        return there

    def _kept_for_later(self, failing: Failing) -> Tensor:
        """Keep the best failure of each lane, to be confirmed with others when the search is over; none is confirmed yet."""
        ranks = failing.scores[:, self.campaign.rank].nan_to_num(nan=torch.inf)
        better = (ranks < self.books["best.rank"][failing.lanes]) | (self.books["best.rounds"][failing.lanes] == 0)
        lanes = failing.lanes[better]
        values = {
            "best.rank": ranks[better],
            "best.scores": failing.scores[better],
            "best.latent": failing.latents[better],
            "best.origin": failing.origins[better],
            "best.spent": self.books["spent"][lanes],
            "best.rounds": self.books["rounds"][lanes],
        }
        for name, value in values.items():
            self.books[name] = self.books[name].index_copy(0, lanes, value)
        return failing.lanes[:0]

    def _suspects(self, failing: Failing, evaluations: Tensor, rounds: Tensor) -> Suspects:
        starts, lanes, which = self.lanes.starts, failing.lanes, failing.origins
        attempts = starts.attempts[lanes]
        return Suspects(
            attempts=attempts,
            numbers=self.books["found"][lanes],
            labels=starts.labels[lanes, which],
            targets=starts.targets[lanes, which],
            origins=starts.latents[lanes, which],
            latents=failing.latents,
            scores=failing.scores,
            evaluations=evaluations,
            rounds=rounds,
            before=self.queue.rendered(attempts, which),
        )

    def _end(self, ended: Tensor) -> None:
        """Tell how the lanes ended that have, and give their places to the next attempts."""
        lanes = ended.nonzero()[:, 0]
        if len(lanes) == 0:
            return
        late = self.books["suspected"][lanes] if self.late else torch.zeros(len(lanes), dtype=torch.bool)
        left = left_behind(self.objective, self.memory)
        self.events += [self._ended(lane, left) for lane in lanes[~late].tolist()]
        if bool(late.any()):
            self.waiting.append(self._unconfirmed(lanes[late], left))
        keep = (~ended).nonzero()[:, 0]
        self.lanes = self._lanes(self.lanes.starts.rows(keep))
        self.state, self.memory, self.books = (rows_of(t, keep) for t in (self.state, self.memory, self.books))
        self._refill()

    def _ended(self, lane: int, left: State | None) -> Ended:
        found, suspected = int(self.books["found"][lane]), bool(self.books["suspected"][lane])
        status = Status.FOUND if found else Status.LOST if suspected else Status.HELD
        attempt = int(self.lanes.attempts[lane])
        shown = self.queue.leave(attempt)
        lowest = float(self.books["lowest"][lane])
        outcome = Outcome(
            arm=self.shard.arm,
            attempt=attempt,
            label=int(self.lanes.starts.labels[lane, 0]),
            source=shown.sources[0],
            status=status,
            origin_predicted=int(shown.outputs[TESTED][0].argmax()),
            evaluations=int(self.books["spent"][lane]),
            rounds=int(self.books["rounds"][lane]),
            best_score=lowest if math.isfinite(lowest) else None,
            target=int(self.lanes.targets[lane]),
            findings=found,
        )
        return Ended(outcome, left and {k: v[lane].clone() for k, v in left.items()})

    def _unconfirmed(self, lanes: Tensor, left: State | None) -> tuple[Suspects, list[Ended]]:
        """The best failures of searches that are over, to be confirmed with others at the price of one evaluation."""
        self.books["spent"] = self.books["spent"].index_add(0, lanes, torch.ones_like(lanes))
        self.evaluations += len(lanes)
        best = {k.removeprefix("best."): v[lanes] for k, v in self.books.items() if k.startswith("best.")}
        failing = Failing(lanes, best["origin"], best["latent"], best["scores"])
        suspects = self._suspects(failing, best["spent"] + 1, best["rounds"])
        return suspects, [self._ended(lane, left) for lane in lanes.tolist()]

    def _enough_wait(self) -> bool:
        """Whether the failures that wait fill a chunk, or have waited for long."""
        full = sum(len(ends) for _, ends in self.waiting) >= self.evaluator.few.size
        return full or time.monotonic() - self.confirmed > PATIENCE

    def _confirm_waiting(self) -> None:
        """Confirm the best failures of searches that are over, many at once."""
        self.confirmed = time.monotonic()
        if not self.waiting:
            return
        said = confirm(self.evaluator, self.shard.arm, Suspects.joined([suspects for suspects, _ in self.waiting]))
        for found, ended in zip(said, chain.from_iterable(ends for _, ends in self.waiting), strict=True):
            status, count = (Status.FOUND, 1) if found else (Status.LOST, 0)
            self.events += [found] if found else []
            self.events.append(replace(ended, outcome=replace(ended.outcome, status=status, findings=count)))
        self.waiting = []

    def _refill(self) -> None:
        starts = self.queue.take(self.most - len(self.lanes))
        self.events += [Ended(outcome) for outcome in self.queue.apart]
        self.queue.apart = []
        if len(starts) == 0:
            return
        lanes = self._lanes(starts)
        fresh = {
            "search": self.search.begin(lanes),
            "engine": blank_books(len(starts), self._best_like()),
            "memory": {},
        }
        if isinstance(self.objective, Remembers):
            fresh["memory"] = self.objective.begin(lanes, self.shard.shared)
        for row, attempt in enumerate(starts.attempts.tolist()):
            for name, value in self.shard.saved.get(attempt, {}).items():
                owner, _, key = name.partition(".")
                fresh[owner][key][row] = value
        self.lanes = self._lanes(self.lanes.starts.joined(starts))
        self.state = joined(self.state, fresh["search"])
        self.memory = joined(self.memory, fresh["memory"])
        self.books = joined(self.books, fresh["engine"])

    def _best_like(self) -> tuple[int, tuple[int, ...]] | None:
        """Columns and latent shape, where the best failure is kept until a search is over."""
        return (len(self.objective.names), self.campaign.generator.space.shape) if self.late else None

    def _save(self, late: bool) -> None:
        """Give the states of unfinished searches now and then, and when time is up."""
        if late:
            self._confirm_waiting()
        if not late and time.monotonic() - self.saved <= self.recipe.engine.checkpoint_seconds:
            return
        owners = {"search": self.state, "engine": self.books, "memory": self.memory}
        named = {f"{owner}.{k}": v for owner, values in owners.items() for k, v in values.items()}
        rows = enumerate(self.lanes.attempts.tolist())
        self.events.append(Saved(self.shard.arm, {a: {k: v[i].clone() for k, v in named.items()} for i, a in rows}))
        self.saved = time.monotonic()

    def _told(self) -> list[Event]:
        """What has happened since the last time."""
        starts, books = self.lanes.starts, self.books
        none = torch.empty(0)
        now = (books.get("spent", none), books.get("lowest", none))
        said = [*self.events, Round(self.shard.arm, self.evaluations, starts.attempts, starts.labels[:, 0], *now)]
        self.events, self.evaluations = [], 0
        return said

    def _refuse_unfit(self, proposal: Proposal) -> None:
        """A search that asks for nothing would never end; one that asks for something else cannot be served."""
        name = f"search '{self.recipe.search.use if self.shard.arm is Arm.SEARCH else self.recipe.baseline.use}'"
        asked = torch.bincount(proposal.lanes, minlength=len(self.lanes))
        if len(asked) > len(self.lanes) or not bool(asked.all()):
            lane = int((asked == 0).nonzero()[0, 0]) if len(asked) == len(self.lanes) else len(asked) - 1
            raise RecipeError(
                f"{name} asked for nothing in lane {lane} of {len(self.lanes)}",
                'ask for at least one candidate in every lane, or say in state["done"] that a lane has finished',
            )
        shape = (len(proposal.lanes), *self.campaign.generator.space.shape)
        if tuple(proposal.latents.shape) != shape:
            raise RecipeError(
                f"{name} asked for latents of shape {tuple(proposal.latents.shape)}, expected {shape}",
                "one row per candidate, each with the shape of the generator's latent space",
            )

    def _per_lane(self, proposal: Proposal, cost: Tensor) -> Tensor:
        return torch.zeros(len(self.lanes), dtype=torch.long).index_add(0, proposal.lanes, cost)

    def _lanes(self, starts: Starts) -> Lanes:
        return Lanes(starts, self.campaign.generator.space, self.campaign.streams)
