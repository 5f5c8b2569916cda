"""Runs that wait, stop, or belong to a terminal."""

import json

import pytest

from foible.store import open_run
from foible.ui.jobs import Jobs
from foible.ui.live import live, state_of
from foible.ui.shelf import Shelf


@pytest.fixture
def jobs(runs, monkeypatch):
    launched = []
    made = Jobs(Shelf(runs))
    monkeypatch.setattr(
        Jobs,
        "_launch",
        lambda self, layout: launched.append(layout.folder.name) or (layout.folder / "job.json").unlink(),
    )
    monkeypatch.setattr(Jobs, "_has_room", lambda self: room[0])
    room = [False]
    return made, room, launched


def test_a_third_run_waits_and_begins_when_there_is_room(jobs, runs):
    made, room, launched = jobs
    made.start("first", {"name": "first"})
    made.start("second", {"name": "second"})
    assert launched == [] and state_of(made, "first", None) == "waiting" and live(made, "first", None).can_stop
    room[0] = True
    made.advance()
    assert launched == ["first", "second"]


def test_a_run_that_waits_can_be_taken_back(jobs):
    made, _, launched = jobs
    made.start("first", {"name": "first"})
    made.stop("first")
    assert not made.waiting("first") and launched == []


def test_after_stop_the_state_is_stopping(runs, monkeypatch):
    made = Jobs(Shelf(runs))
    (runs / "toy" / "job.json").write_text(json.dumps({"process": 1, "stopping": True}))
    monkeypatch.setattr(Jobs, "going", lambda self, name: True)
    assert state_of(made, "toy", open_run(runs / "toy")) == "stopping"


def test_a_run_of_a_terminal_shows_no_stop_button(runs, monkeypatch, visit):
    monkeypatch.setattr(Jobs, "going", lambda self, name: True)
    page = visit().get("/runs/toy").text
    assert "started in a terminal" in page and "/stop" not in page
