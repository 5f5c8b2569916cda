"""Processes are found again from the runs folder, and only the right ones."""

import json
import os
import subprocess
import sys
import time

import pytest

from foible.errors import RecipeError, StoreError
from foible.store.layout import Layout
from foible.ui.jobs import Jobs, process_of
from foible.ui.live import live, state_of
from foible.ui.selection import Filter, read_filter, select
from foible.ui.shelf import Shelf


def test_a_number_that_belongs_to_another_process_is_not_a_run(runs):
    note = runs / "toy" / "job.json"
    for text in (json.dumps({"process": os.getpid()}), json.dumps({"process": 2**22 + 1}), "{}", "no json"):
        note.write_text(text)
        assert process_of(Layout(runs / "toy")) is None
    with pytest.raises(StoreError, match="not started from this workbench"):
        Jobs(Shelf(runs)).stop("toy")


def test_a_process_is_known_by_its_command(runs):
    command = [sys.executable, "-c", "import time; time.sleep(60)", "foible", str(runs / "toy")]
    process = subprocess.Popen(command)
    try:
        (runs / "toy" / "job.json").write_text(json.dumps({"process": process.pid}))
        until = time.monotonic() + 30
        while process_of(Layout(runs / "toy")) is None and time.monotonic() < until:
            time.sleep(0.01)
        assert process_of(Layout(runs / "toy")) == process.pid
        assert Jobs(Shelf(runs)).going("toy")
    finally:
        process.kill()
        process.wait()
    assert process_of(Layout(runs / "toy")) is None


def test_a_run_written_from_a_terminal_is_seen_too(runs):
    jobs = Jobs(Shelf(runs))
    assert not jobs.going("toy")
    holding = "import filelock, sys\nwith filelock.FileLock(sys.argv[1]):\n    print('held', flush=True)\n    input()"
    command = [sys.executable, "-c", holding, str(runs / "toy" / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as terminal:
        assert terminal.stdout.readline() == "held\n"
        assert jobs.going("toy")
        terminal.communicate("\n")
    assert not jobs.going("toy")


def test_a_name_that_is_taken_is_not_overwritten(runs):
    with pytest.raises(RecipeError, match="there is a run called 'toy' already"):
        Jobs(Shelf(runs)).start("toy", {})
    assert Shelf(runs).free_name("toy") == "toy-2"


def test_the_state_in_words(runs):
    shelf = Shelf(runs)
    with shelf.open("toy") as run:
        now = live(Jobs(shelf), "toy", run)
        assert now.state == "complete" and now.share == 1 and "9 of 9 starting images" in now.words
        assert len(now.origins) == 9
    assert state_of(Jobs(shelf), "toy", None) == "not begun"


def test_filters(runs):
    from foible.store.answers import NOTHING, Answers

    with Shelf(runs).open("toy") as run:
        lines = run.index()
    nobody, first = Answers({}), lines[0]
    assert len(select(lines, Filter(), nobody)) == len(lines)
    pair = select(lines, Filter(label=first.label, predicted=first.predicted), nobody)
    assert first in pair and all((f.label, f.predicted) == (first.label, first.predicted) for f in pair)
    costs = [f.evaluations for f in select(lines, Filter(order="costly"), nobody)]
    assert costs == sorted(costs, reverse=True)
    people = Answers({"Ada": {first.key: first.label}, "Ben": {first.key: first.label, lines[1].key: NOTHING}})
    assert select(lines, Filter(kept="yes"), people) == [first]
    assert [f.attempt for f in select(lines, Filter(valid="no"), people)] == [lines[1].attempt]
    assert len(select(lines, Filter(valid="unknown"), people)) == len(lines) - 2
    assert read_filter({"label": "9", "least": "-1", "order": "x", "page": "2"}, 3) == Filter(page=2)
    assert Filter(label=0, page=3).query(predicted=1) == "label=0&predicted=1"
