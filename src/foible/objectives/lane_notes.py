"""What a coverage-guided search remembers of its own: where it began, what it aims at, what it gave up, what covers.

One row per lane. Names: `agreed` and `begun` for the search; `ROLE.aims`, `ROLE.tried` and the like for each classifier,
`ROLE.kept.NAME` with the notes of up to `room` candidates, from which the run's coverage is made when the search has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from foible.types import Feedback, Proposal, State, Want

if TYPE_CHECKING:
    from foible.objectives.covering import Covering


def below(state: State, prefix: str) -> State:
    """The entries under a name, without it."""
    return {name.removeprefix(prefix + "."): value for name, value in state.items() if name.startswith(prefix + ".")}


def of_role(state: State, role: str) -> State:
    """What is remembered of one classifier."""
    return below(state, role)


def rows(memory: State, lanes: Tensor) -> State:
    """The entries of a role for candidates in these lanes; not the notes, which nothing reads before the end."""
    return {name: value[lanes] for name, value in memory.items() if not name.startswith("kept.")}


def lasting(memory: State, roles: tuple[str, ...]) -> State:
    """What outlives a search: the notes of what covers, how many there are, and which aims were met or missed."""
    names = ["kept", *(f"{role}.{name}" for role in roles for name in ("met", "missed"))]
    noted = {f"{role}.kept.{name}": v for role in roles for name, v in below(memory, f"{role}.kept").items()}
    return {name: memory[name] for name in names} | noted


def barred(left: Tensor, numbers: int) -> Tensor:
    """Obligations (N, numbers) that a search is through with, from their numbers (N, M); -1 for none."""
    marks = torch.zeros(len(left), numbers + 1, dtype=torch.bool)
    return marks.scatter(1, torch.where(left >= 0, left, numbers), True)[:, :-1]


def absorbed(plan: Covering, memory: State, proposal: Proposal, feedback: Feedback) -> State:
    """The memory after a round; several candidates of a lane one after the other."""
    now, order = dict(memory), _turns(proposal.lanes)
    noted = (proposal.wants != Want.VERDICT) & bool(feedback.notes)
    for turn in range(int(order.max()) + 1 if len(order) else 0):
        picked = ((order == turn) & noted).nonzero()[:, 0]
        if len(picked):
            now = _one_each(plan, now, proposal.lanes[picked], feedback, picked)
    return now


def _turns(lanes: Tensor) -> Tensor:
    """How many candidates of the same lane come before each one (M,)."""
    by_lane = lanes.argsort(stable=True)
    counts = torch.bincount(lanes)
    begins = counts.cumsum(0) - counts
    turns = torch.empty_like(lanes)
    turns[by_lane] = torch.arange(len(lanes)) - begins[lanes[by_lane]]
    return turns


def _one_each(plan: Covering, memory: State, lanes: Tensor, feedback: Feedback, picked: Tensor) -> State:
    """At most one candidate for each lane: those at `picked`, in `lanes`."""
    notes = {name: value[picked] for name, value in feedback.notes.items()}
    first = ~memory["begun"][lanes]
    covers = first | feedback.failed[picked] if plan.remembers == "failures" else torch.ones_like(first)
    covers &= memory["kept"][lanes] < plan.places
    place = memory["kept"][lanes].clamp_max(plan.places - 1)
    changed: State = {
        "agreed": torch.where(first, notes["agreed"], memory["agreed"][lanes]),
        "begun": torch.ones_like(first),
        "kept": memory["kept"][lanes] + covers,
    }
    now = dict(memory)
    for role in plan.looked_at:
        old, new = rows(of_role(memory, role), lanes), of_role(notes, role)
        mine = _aimed(plan, old, new) | {"base": torch.where(first[:, None], new["base"], old["base"])}
        changed |= {f"{role}.{name}": value for name, value in mine.items()}
        for name, value in below(new, "kept").items() if bool(covers.any()) else ():
            kept = now[f"{role}.kept.{name}"].clone()
            kept[lanes[covers], place[covers]] = value[covers].to(kept.dtype)
            now[f"{role}.kept.{name}"] = kept
    return now | {name: memory[name].index_copy(0, lanes, value) for name, value in changed.items()}


def _aimed(plan: Covering, old: State, new: State) -> State:
    """Aims after a candidate: dropped when all are met or patience is at its end, else kept."""
    aims, met = new["aims"], new["met"]
    same = (aims == old["aims"]).all(1)
    tried = torch.where(same, old["tried"], 0) + 1
    real = aims >= 0
    done = (met | ~real).all(1) & real.any(1)
    tired = (tried >= plan.patience) & real.any(1) & ~done & plan.gives_up
    over = done | tired
    size = old["left"].shape[1]
    places = (old["turn"][:, None] * plan.count + torch.arange(aims.shape[1])) % size
    left = torch.where(over[:, None], old["left"].scatter(1, places, aims), old["left"])
    missed = torch.where(tired[:, None] & ~met, aims, -1)
    return {
        "aims": torch.where(over[:, None], -1, aims),
        "tried": torch.where(over, 0, tried),
        "turn": old["turn"] + over,
        "left": left,
        "missed": torch.where(over[:, None], old["missed"].scatter(1, places, missed), old["missed"]),
        "met": old["met"] + (met & over[:, None]).sum(1),
    }
