"""How a run is doing at this moment, read from its folder alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foible.campaign.estimate import most_evaluations
from foible.records import Outcome
from foible.report.wording import plural
from foible.store import Run
from foible.store.sound import row_errors
from foible.types import Arm, Status
from foible.ui.jobs import Jobs

GOING = frozenset({"running", "starting", "stopping", "waiting"})
LISTED = 150  # origins in the table; all of them are in the export

WORDS = {
    Status.FOUND: "failure found",
    Status.HELD: "held out",
    Status.LOST: "failure lost in rounding",
    Status.REJECTED: "set apart: wrong from the start",
    Status.REFUSED: "set apart: not valid with its label",
}


@dataclass(frozen=True)
class Origin:
    """One row of the table: a search that is under way or has ended."""

    attempt: int
    name: str
    status: str
    words: str
    evaluations: int
    best: float | None


@dataclass(frozen=True)
class Live:
    """The state of a run with its progress in numbers and words; origins are ranked by `column`, and fail below `goal`."""

    state: str
    going: bool
    share: float
    words: str
    origins: tuple[Origin, ...]
    complaint: str = ""
    can_stop: bool = True
    column: str = "score"
    goal: float | None = None


def state_of(jobs: Jobs, name: str, run: Run | None) -> str:
    """What a run is doing. The word in its store may be older than its process: this one is not."""
    if jobs.waiting(name):
        jobs.advance()
    if jobs.waiting(name):
        return "waiting"
    if jobs.going(name):
        if jobs.stopping(name):
            return "stopping"
        return "running" if run is not None and run.state == "running" else "starting"
    if run is None:
        return "not begun"
    return "broken off" if run.state == "running" else run.state


def live(jobs: Jobs, name: str, run: Run | None) -> Live:
    """Read how a run is doing; `run` is None before its process has written anything."""
    state = state_of(jobs, name, run)
    going = state in GOING
    complaint = "" if going else jobs.complaint(name)
    if run is None:
        words = f"loading models and looking at them, {clock(jobs.seconds(name))}" if going else "nothing was written"
        if state == "waiting":
            place = jobs.place(name)
            words = f"number {place} in the queue: begins as soon as another run has ended"
        return Live(state, going, 0.0, words, (), complaint, jobs.can_stop(name))
    latest = run.progress()
    note = latest if going else None
    with row_errors("the progress", run.layout.folder):
        share, words = _progress(run, note, jobs.seconds(name)) if going else (_ended_share(run), _ended(run))
        shown = {key: latest[key] for key in ("column", "goal") if latest and key in latest}
        return Live(state, going, share, words, _origins(run, note), complaint, jobs.can_stop(name), **shown)


def _progress(run: Run, note: dict[str, Any] | None, gone: float) -> tuple[float, str]:
    """The share of the whole run that is done, and the sentence beside the bar."""
    recipe = run.manifest.recipe
    attempts, baseline = recipe["attempts"], min(recipe["attempts"], recipe["baseline"]["attempts"])
    if note is None:
        return 0.0, f"measuring the machine, {clock(gone)}"
    in_baseline = note["arm"] == Arm.BASELINE
    done = note["share"] * note["attempts"] + (attempts if in_baseline else 0)
    share = min(1.0, done / max(1, attempts + baseline))
    rate = note["evaluations"] / note["seconds"] if note["seconds"] > 0 else 0.0
    left = (1 - share) * most_evaluations(attempts, baseline, recipe["budget"]["evaluations"])
    what = "baseline" if in_baseline else "search"
    words = (
        f"{what}: {note['done']:,} of {plural(note['attempts'], 'starting image')}, {plural(note['found'], 'failure')}"
    )
    if rate > 0:
        words += f" · {rate:,.0f} evaluations/s · about {duration(left / rate)} left if no search ends early"
    return share, f"{words} · {clock(gone)}"


def _ended_share(run: Run) -> float:
    recipe = run.manifest.recipe
    planned: int = recipe["attempts"] + min(recipe["attempts"], recipe["baseline"]["attempts"])
    return min(1.0, sum(sum(run.counts(arm).values()) for arm in Arm) / max(1, planned))


def _ended(run: Run) -> str:
    counts = run.counts()
    done, planned = sum(counts.values()), run.manifest.recipe["attempts"]
    aside = counts[Status.REJECTED] + counts[Status.REFUSED]
    apart = f", {aside:,} of them set apart" if aside else ""
    found = sum(outcome.findings for outcome in run.outcomes())
    return f"{done:,} of {plural(planned, 'starting image')} tried{apart}, {plural(found, 'failure')}"


def _origins(run: Run, note: dict[str, Any] | None) -> tuple[Origin, ...]:
    """Searches under way first, then those that have ended, the latest first."""
    lanes = note["lanes"] if note and note["arm"] == Arm.SEARCH else []
    ended = list(run.outcomes())
    over = {o.attempt for o in ended}
    going = [
        Origin(attempt, run.classes[label], "going", "searching", spent, lowest)
        for attempt, label, spent, lowest in lanes
        if attempt not in over
    ]
    return tuple(going + [_origin(run, o) for o in reversed(ended)])[:LISTED]


def _origin(run: Run, outcome: Outcome) -> Origin:
    return Origin(
        outcome.attempt,
        run.classes[outcome.label],
        str(outcome.status),
        WORDS[outcome.status],
        outcome.evaluations,
        outcome.best_score,
    )


def clock(seconds: float) -> str:
    """Time gone by, as a clock shows it: "0:07", "1:02:30"."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def duration(seconds: float) -> str:
    """A length of time as people say it: "40 s", "3 min", "2 h"."""
    if seconds < 1:
        return "1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
