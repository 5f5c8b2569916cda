"""Runs as rows: what the first page and the list of runs say of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote

from foible.errors import FoibleError
from foible.report.gallery import Card
from foible.store.layout import Layout
from foible.ui.glance import Tally, day
from foible.ui.live import GOING, duration, live, state_of
from foible.ui.memos import Memo, read_memo
from foible.ui.questions import SEARCHED, question
from foible.ui.render import Bench
from foible.ui.studies import Study, read_study


@dataclass(frozen=True)
class Row:
    """A run on a list."""

    name: str
    title: str
    state: str
    what: str = ""
    settings: str = ""
    when: str = ""
    took: str = ""
    tally: Tally | None = None
    searched: int = 0
    share: float = 0.0
    progress: str = ""
    cards: tuple[Card, ...] = ()
    memo: Memo = field(default_factory=Memo)
    again: str = ""
    kind: str = "run"

    @property
    def path(self) -> str:
        """The address of its page."""
        return f"/{'runs' if self.kind == 'run' else 'studies'}/{self.name}"

    @property
    def going(self) -> bool:
        """Whether it is under way, or waits for its turn."""
        return self.state in GOING

    @property
    def notes(self) -> str:
        """The first line of what a user noted."""
        return self.memo.notes.partition("\n")[0][:160]

    def fits(self, words: str) -> bool:
        """Whether all these words are somewhere in it."""
        text = " ".join([self.name, self.title, self.what, self.settings, self.state, self.memo.notes]).lower()
        return all(word in text for word in words.lower().split())


def row(shared: Bench, name: str) -> Row:
    """One run, or what is wrong with it."""
    layout = shared.shelf.layout(name)
    memo, study = read_memo(layout), read_study(layout)
    try:
        if study is not None and study.question not in SEARCHED:
            return _study(shared, name, layout, memo, study)
        if not layout.database.is_file():
            now = live(shared.jobs, name, None)
            return Row(name, memo.title or name, now.state, memo=memo, progress=now.words)
        return _run(shared, name, memo)
    except FoibleError as error:
        return Row(name, memo.title or name, "damaged", shared.discreet(error.message), memo=memo)


def _run(shared: Bench, name: str, memo: Memo) -> Row:
    with shared.shelf.open(name) as run:
        seen, state = shared.glances.at(run), state_of(shared.jobs, name, run)
        now = live(shared.jobs, name, run) if state in GOING else None
        return Row(
            name,
            memo.title or seen.recipe["title"] or name,
            state,
            seen.what,
            seen.settings,
            day(seen.created),
            f"took {duration(seen.seconds)}" if seen.seconds is not None and now is None else "",
            seen.tally,
            seen.searched,
            now.share if now else 1.0,
            now.words if now else "",
            seen.cards,
            memo,
            f"/setup?again={quote(name)}",
        )


def _study(shared: Bench, name: str, layout: Layout, memo: Memo, study: Study) -> Row:
    what = " on ".join(part for part in (study.model, study.domain) if part)
    return Row(
        name,
        memo.title or study.title or name,
        study_state(shared, name, layout, study),
        what,
        question(study.question).title if study.question in RESULTS_OF else "",
        day(study.created),
        memo=memo,
        progress=f"{duration(shared.jobs.seconds(name))} so far",
        kind="study",
    )


RESULTS_OF = ("coverage", "judging")


def study_state(shared: Bench, name: str, layout: Layout, study: Study) -> str:
    """What a study is doing."""
    state = state_of(shared.jobs, name, None)
    if state in GOING:
        return "running" if state == "starting" else state
    return "complete" if study.answered(layout) else "failed"
