"""Towards a failure, and towards behaviour that nothing has exercised: two columns, so that a search can weigh two gradients.

The first column is what draws towards a failure (`pulls.py`). The second says how far each classifier's units are from
obligations of a coverage criterion that the run has not covered (`foible.coverage`): every criterion brings a number that can
be followed downhill. An obligation is aimed at until it is met, or given up after `patience` candidates; one that `tries` searches gave
up is left alone from then on and marked "not reached in the budget", which is not to say that it cannot be reached.

What is covered is shared by the run and merged wave by wave: of every search its origin, and its failures or all that it looked at.

    chooses            aims at                                                     follows
    cheapest           the open obligations that are least far                     the criterion's own objective
    random, rarest     any; the cheapest in the layer that is covered least        the same
    published          one open obligation at random, chosen once per origin       the output of its unit, upwards (DeepXplore)
    often, rarely      units by how often they were covered, or how rarely         the same (DLFuzz, strategies 0 and 1)
    heavy              units among the tenth with the largest incoming weights     the same (DLFuzz, strategy 2)
    near               units near the threshold, those below it downwards          the same (DLFuzz, strategy 3)
    unit               any unit, covered or not: the control                       the same
    gain               nothing                                                     no gradient: what a candidate adds, negated
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, cast

import torch
from torch import Tensor

from foible.classifiers.watched import HIGH, LOW, UNITS, WATCHED, Watched
from foible.coverage import Batch, Criterion
from foible.coverage.criterion import How
from foible.coverage.scope import Unit, Where
from foible.errors import RecipeError, did_you_mean
from foible.objectives import lane_notes
from foible.objectives.aims import BY_UNIT, OBLIGATIONS, Choice, Chooses, chosen_units, unit_distance
from foible.objectives.covered import Books, start_books
from foible.objectives.margin import margin_or_target
from foible.objectives.pulls import apart, behind_the_next
from foible.protocols import Lanes, Role, Setting
from foible.registry import table
from foible.types import TESTED, Evaluation, Feedback, Proposal, State

PULLS = ("margin", "apart", "next")
ROOM = {"failures": 4, "every": 32}
GRID = 2**20  # scores are multiples of 1 / GRID: last bits of softplus may depend on a row's place in a batch


class Look(NamedTuple):
    """A chunk as one classifier's units see it."""

    criterion: Criterion
    batch: Batch
    base: Batch
    state: State
    aims: Tensor


@dataclass(frozen=True)
class Covering:
    """Towards a failure, and towards what no image of the run has exercised: one column each.

    Args:
        pull: towards what failure: "margin", "apart" (from the other classifiers, DeepXplore) or "next" (DLFuzz).
        criterion: what coverage: foible ls coverage.
        settings: of the criterion, such as { k = 1000 }.
        chooses: which obligations or units are aimed at.
        count: how many at once, for each classifier.
        patience: candidates after which an obligation is given up by a search.
        tries: searches after which it is given up by the run, as not reached in the budget.
        remembers: what covers: "failures" or "every" candidate; origins always do.
        others: roles that are looked at beside the tested one.
        lambda1: weight of the tested classifier against the others, with "apart".
        next_classes: how many runners-up, with "next".
        layers: which to measure; left out: found by what they are.
        where: before or after the activation function: "pre", "post".
        unit: a channel or every position: "channel", "element".
        profiled: real images on which the units' usual ranges are measured.
        room: candidates of a search that can be remembered; those after them cover nothing. Left out: 32, or 4 where only
            failures are, since a search ends with its first.
        tells_gain: tell the search what each candidate adds to the coverage, for those that want to know.
    """

    pull: Literal["margin", "apart", "next"] = "margin"
    criterion: str = "kmnc"
    settings: Mapping[str, Any] = field(default_factory=dict)
    chooses: Chooses = "cheapest"
    count: int = 1
    patience: int = 10
    tries: int = 3
    remembers: Literal["failures", "every"] = "every"
    others: tuple[str, ...] = ()
    lambda1: float = 1.0
    next_classes: int = 4
    layers: tuple[str, ...] = ()
    where: Where = "pre"
    unit: Unit = "channel"
    profiled: int = 2000
    room: int | None = None
    tells_gain: bool = False
    _books: Books = field(init=False, repr=False, compare=False, default_factory=Books)

    names: ClassVar[tuple[str, ...]] = ("failure", "uncovered")

    def __post_init__(self) -> None:
        for name in ("others", "layers"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for what, value, known in (("pull", self.pull, PULLS), ("criterion", self.criterion, tuple(table("coverage")))):
            if value not in known:
                raise RecipeError(f"objective covering: {what} = '{value}'", did_you_mean(value, known))
        for name in ("count", "patience", "tries", "profiled", "room", "next_classes"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise RecipeError(f"objective covering: {name} {value} must be at least 1")
        if self.pull == "apart" and not self.others:
            raise RecipeError(
                'objective covering: pull = "apart" needs other classifiers',
                'others = ["rival"], and a table [classifiers] that names them',
            )
        Choice(self.chooses, self.criterion).refuse_unfit()

    @property
    def looked_at(self) -> tuple[str, ...]:
        """All roles whose units are watched."""
        return (TESTED, *self.others)

    @property
    def places(self) -> int:
        """How many candidates of a search can be remembered."""
        return self.room or ROOM[self.remembers]

    @property
    def gives_up(self) -> bool:
        """Whether aims are obligations, that are met or given up; units are raised until the end."""
        return self.chooses in OBLIGATIONS

    @property
    def reads(self) -> Mapping[str, tuple[str, ...]]:
        """The units of each classifier."""
        return dict.fromkeys(self.looked_at, WATCHED)

    def derive(self, roles: Mapping[str, Role]) -> Mapping[str, Role]:
        """The same classifiers, showing their units."""
        return {
            name: roles[name]._replace(classifier=Watched(roles[name].classifier, self.layers, self.where, self.unit))
            for name in self.looked_at
            if name in roles
        }

    def __call__(self, evaluation: Evaluation) -> Tensor:
        """Columns (N, 2)."""
        if self.chooses == "gain":
            far = -self._gain(evaluation)
        else:
            far = torch.stack([self._far(self._look(role, evaluation)) for role in self.looked_at]).sum(0)
        pull = self._pull(evaluation)
        both = torch.stack([pull, far.to(pull)], 1)
        exact = both.dtype == torch.float64  # for finite differences
        return both if exact else both + ((both.detach() * GRID).round() / GRID - both.detach())

    def _pull(self, evaluation: Evaluation) -> Tensor:
        if self.pull == "apart":
            said = evaluation.outputs[TESTED].detach().argmax(1)
            begun, agreed = (evaluation.memory[name].to(said.device)[evaluation.lanes] for name in ("begun", "agreed"))
            return apart(evaluation.outputs, torch.where(begun, agreed, said), self.others, self.lambda1)
        if self.pull == "next":
            return behind_the_next(evaluation.outputs[TESTED], evaluation.labels, self.next_classes)
        return margin_or_target(evaluation.outputs[TESTED], evaluation.labels, evaluation.targets)

    def _far(self, look: Look) -> Tensor:
        if self.chooses in BY_UNIT:
            return unit_distance(look.criterion, look.batch.values, look.aims)
        return look.criterion.objective(look.batch, look.aims, look.base, look.state)

    def _look(self, role: str, evaluation: Evaluation) -> Look:
        return self._books.once(evaluation, role, lambda: self._new_look(role, evaluation))

    def _new_look(self, role: str, evaluation: Evaluation) -> Look:
        criterion = self._books.criterion(self, role, evaluation.shared)
        lanes = evaluation.lanes.cpu()
        seen = evaluation.activations[role]
        predicted = evaluation.outputs[role].detach().argmax(1).cpu()
        scope = criterion.profile.scope
        batch = Batch(scope, seen[UNITS].cpu(), seen[LOW].cpu(), seen[HIGH].cpu(), predicted)
        memory = lane_notes.of_role(evaluation.memory, role)
        begun = evaluation.memory["begun"][lanes]
        start = torch.where(begun[:, None], memory["base"][lanes].to(batch.values.dtype), batch.values.detach())
        base = Batch(scope, start, batch.low, batch.high, predicted)
        state = lane_notes.below(evaluation.shared, f"{role}.covered")
        aims = self._aims(criterion, batch, state, lane_notes.rows(memory, lanes), evaluation, role)
        return Look(criterion, batch, base, state, aims)

    def _aims(
        self, criterion: Criterion, batch: Batch, state: State, memory: State, evaluation: Evaluation, role: str
    ) -> Tensor:
        """What each candidate aims at (N, count): as before, or chosen here where its search has no aim."""
        old = memory["aims"]
        fresh = ~(old >= 0).any(1)
        if self.chooses == "gain" or not bool(fresh.any()):
            return old
        if self.chooses in BY_UNIT:
            shared = lane_notes.of_role(evaluation.shared, role)
            new = chosen_units(
                Choice(self.chooses, self.criterion), criterion, batch, self.count, memory["salt"], state, shared
            )
        else:
            barred = lane_notes.barred(memory["left"], criterion.numbers)
            barred |= evaluation.shared[f"{role}.given_up"] >= self.tries
            salt = memory["salt"] + memory["turn"]
            new = criterion.aim(batch, self.count, cast(How, self.chooses), salt, state, barred)
        return torch.where(fresh[:, None], new, old)

    def _gain(self, evaluation: Evaluation) -> Tensor:
        """What each candidate would add to what the run had covered when its wave began (N,), in shares where there are some."""
        gains = []
        for role in self.looked_at:
            look = self._look(role, evaluation)
            added = look.criterion.gains(look.state, look.criterion.note(look.batch), alone=True).double()
            gains.append(added / max(1, look.criterion.numbers) if look.criterion.measure == "share" else added)
        return torch.stack(gains).mean(0)

    def start(self, setting: Setting) -> State:
        """Profiles of all classifiers on real images, and nothing covered."""
        return start_books(self, setting)

    def begin(self, lanes: Lanes, shared: State) -> State:
        """No aims, and a place for what is to be remembered."""
        return self._books.begin(self, lanes, shared)

    def note(self, evaluation: Evaluation) -> State:
        """Of each candidate: its units' values, what it covers, what it aims at and whether that is met, and what it adds."""
        notes: State = {"agreed": evaluation.outputs[TESTED].detach().argmax(1).cpu()}
        if self.tells_gain:
            notes["gain"] = self._gain(evaluation)
        for role in self.looked_at:
            look = self._look(role, evaluation)
            met = torch.zeros_like(look.aims, dtype=torch.bool)
            if self.gives_up:
                met = look.criterion.met(look.batch, look.aims, look.base, look.state)
            mine = {"base": look.batch.values.detach().float(), "aims": look.aims, "met": met}
            mine |= {f"kept.{name}": rows for name, rows in look.criterion.note(look.batch).items()}
            notes |= {f"{role}.{name}": value for name, value in mine.items()}
        return notes

    def absorb(self, memory: State, lanes: Lanes, proposal: Proposal, feedback: Feedback) -> State:  # noqa: ARG002
        """Remember origins and what covers; take new aims where the old ones are met or given up."""
        return lane_notes.absorbed(self, memory, proposal, feedback)

    def leaves(self, memory: State) -> State:
        """What ended searches covered, met and missed; where they were going is over."""
        return lane_notes.lasting(memory, self.looked_at)

    def merge(self, shared: State, ended: State) -> State:
        """What ended searches covered and gave up, in the order of attempts."""
        return self._books.merged(self, shared, ended)
