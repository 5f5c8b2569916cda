"""What a coverage-guided run shares: profiles of its classifiers, what is covered, and what was given up.

Names: `ROLE.profile.NAME` (fitted once), `ROLE.covered.NAME` (the memory of the criterion), `ROLE.given_up` (how many searches
gave up each obligation), `ROLE.met` (how many aims were met), `ROLE.times` and `ROLE.weights` for the published ways of choosing units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ReferenceType, ref

import torch
from torch import Tensor

from foible.classifiers.scopes import incoming_weights
from foible.classifiers.watched import Watched
from foible.coverage import Criterion, Profile, fitted, from_values
from foible.coverage.cells import Cells
from foible.coverage.profile_file import as_tensors, from_tensors
from foible.errors import DataError
from foible.objectives.aims import BY_COUNT
from foible.objectives.lane_notes import below, of_role
from foible.protocols import Lanes, Setting
from foible.registry import build
from foible.types import Evaluation, State

if TYPE_CHECKING:
    from foible.objectives.covering import Covering

T = TypeVar("T")
PART = 64  # images profiled at a time: with more, the maps of a deep network no longer fit in the cache
LEFT = 32  # aims that a search remembers it is through with


def start_books(plan: Covering, setting: Setting) -> State:
    """What the first wave shares."""
    shared: State = {}
    for role in plan.looked_at:
        watched = setting.roles[role].classifier
        assert isinstance(watched, Watched)
        profile = profile_of(watched, setting, plan.profiled)
        criterion = made(plan, profile)
        mine = {f"profile.{name}": value for name, value in as_tensors(profile).items()}
        mine |= {f"covered.{name}": value for name, value in criterion.empty().items()}
        mine["given_up"] = torch.zeros(criterion.numbers, dtype=torch.int32)
        mine["met"] = torch.zeros(1, dtype=torch.int64)
        if plan.chooses in BY_COUNT:
            mine["times"] = torch.zeros(criterion.numbers, dtype=torch.int64)
        if plan.chooses == "heavy":
            mine["weights"] = incoming_weights(watched.classifier, profile.scope)
        shared |= {f"{role}.{name}": value for name, value in mine.items()}
    return shared


def profile_of(watched: Watched, setting: Setting, count: int) -> Profile:
    """What the units of a classifier do on some of the real images, spread evenly over all of them."""
    total = len(setting.data.labels)
    if not total:
        raise DataError("there are no real images to profile the classifiers on", "name some with --data")
    index = torch.arange(total)[:: max(1, total // count)][:count]
    batches = (watched.batch(setting.data.images(part).to(setting.device)) for part in index.split(PART))
    return fitted(batches, source=f"{len(index):,} images of {setting.data.source}")


def made(plan: Covering, profile: Profile) -> Criterion:
    """The criterion of a plan on a profile."""
    criterion: Criterion = build("coverage", plan.criterion, {"profile": profile, **plan.settings})
    return criterion


class Books:
    """Criteria made of what the run shares, each made once, and what is done with them between rounds and waves."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Tensor, Criterion]] = {}
        self._of: ReferenceType[Evaluation] | None = None  # the chunk that was looked at last
        self._looks: dict[str, Any] = {}

    def once(self, evaluation: Evaluation, role: str, make: Callable[[], T]) -> T:
        """What a chunk looks like to a role, made once; scores and notes are asked for one after the other."""
        if self._of is None or self._of() is not evaluation:
            self._of, self._looks = ref(evaluation), {}
        if role not in self._looks:
            self._looks[role] = make()
        found: T = self._looks[role]
        return found

    def criterion(self, plan: Covering, role: str, shared: State) -> Criterion:
        """The criterion of a role; made anew where the profile is another."""
        mark = shared[f"{role}.profile.low"]
        known = self._made.get(role)
        if known is None or known[0] is not mark:
            profile = from_tensors(below(shared, f"{role}.profile"))
            known = self._made[role] = mark, made(plan, profile)
        return known[1]

    def begin(self, plan: Covering, lanes: Lanes, shared: State) -> State:
        """What searches remember before they have looked at anything."""
        count, room, aims = len(lanes), plan.places, plan.count
        none = torch.zeros(count, dtype=torch.int64)
        memory: State = {"agreed": none, "begun": none.bool(), "kept": none}
        draws = [lanes.streams.at("aims", attempt) for attempt in lanes.attempts.tolist()]
        salt = torch.cat([torch.randint(0, 1 << 62, (1,), generator=stream) for stream in draws] or [none])
        for role in plan.looked_at:
            criterion = self.criterion(plan, role, shared)
            nowhere = torch.full((count, LEFT * aims), -1)
            mine = {
                "aims": torch.full((count, aims), -1),
                "salt": salt,
                "base": torch.zeros(count, criterion.profile.scope.units),
                "left": nowhere,
                "missed": nowhere,
            }
            mine |= dict.fromkeys(("tried", "turn", "met"), none)
            for name, row in _note_like(criterion).items():
                mine[f"kept.{name}"] = torch.zeros(count, room, *row.shape[1:], dtype=row.dtype)
            memory |= {f"{role}.{name}": value for name, value in mine.items()}
        return {name: value.clone() for name, value in memory.items()}  # each is restored in place by itself

    def merged(self, plan: Covering, shared: State, ended: State) -> State:
        """What the next wave shares: that of every ended search is added, one after the other."""
        now = dict(shared)
        for role in plan.looked_at:
            criterion, mine = self.criterion(plan, role, shared), of_role(ended, role)
            state = {name: value.clone() for name, value in below(shared, f"{role}.covered").items()}
            notes, given_up = below(mine, "kept"), shared[f"{role}.given_up"].clone()
            times = shared[f"{role}.times"].clone() if f"{role}.times" in shared else None
            for row, kept in enumerate(ended["kept"].tolist()):
                seen = {name: value[row, :kept] for name, value in notes.items()}
                criterion.add(state, seen)
                missed = mine["missed"][row]
                given_up[missed[missed >= 0].unique()] += 1
                if times is not None:
                    assert isinstance(criterion, Cells)
                    for hit in criterion.hits(seen):
                        times[torch.from_numpy(hit)] += 1
            now |= {f"{role}.covered.{name}": value for name, value in state.items()}
            now[f"{role}.given_up"] = given_up
            now[f"{role}.met"] = shared[f"{role}.met"] + mine["met"].sum()
            if times is not None:
                now[f"{role}.times"] = times
        return now


def _note_like(criterion: Criterion) -> State:
    """What is noted of one input, for its shape."""
    profile = criterion.profile
    known = profile.traced_class[:1] if len(profile.traced_class) else torch.tensor([0])
    mean = profile.moments.mean.to(profile.low.dtype)
    with torch.no_grad():
        return criterion.note(from_values(mean[None], profile.scope, known))
