"""Every method is a row: each shape runs through the one loop, and lanes, interruptions and kill -9 change nothing."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tomli_w

import foible
from foible.errors import StoreError
from foible.store import open_run
from foible.testing.toys import toy_recipe
from foible.types import Status

from .conftest import contents

PLUGIN = Path(__file__).parents[1] / "plugins" / "rows.py"
TOYS = Path(foible.__file__).parent / "testing" / "toys.py"
RIVAL = {"rival": {"use": f"{TOYS}:ToyClassifier", "name": "rival", "bias": 0.75}}
SURROGATE = {"surrogate": {"use": f"{TOYS}:ToyClassifier", "name": "stand-in", "bias": 0.25}}


def part(name, **parameters):
    return {"use": f"{PLUGIN}:{name}", **parameters}


ROWS = {
    "genetic": {},
    "descent": {"search": {"use": "descent", "steady": False}},
    "descent, steady": {"search": {"use": "descent", "variations": 2, "keep": 0.1}},
    "descent, alone": {
        "search": {"use": "descent", "variations": 2, "keep": 0.1, "alone": 0.5},
        "classifiers": SURROGATE,
    },
    "transfer": {"search": {"use": "transfer", "steady": False}, "classifiers": SURROGATE},
    "targeted": {"search": {"use": "descent", "steady": False}, "oracle": "targeted", "targets": ["right"]},
    "shrink": {"search": {"use": "shrink"}},
    "shrink, with gradients, targeted": {
        "search": {"use": "shrink", "gradients": True},
        "oracle": "targeted",
        "targets": ["right"],
    },
    "boundary-genetic": {"search": {"use": "boundary-genetic", "population": 10, "survivors": 4}},
    "a population, two classifiers, an archive": {
        "search": part("Drift"),
        "objective": part("Divergence"),
        "oracle": "disagree",
        "classifiers": RIVAL,
        "ends": "never",
        "keeps": "every",
        "budget": {"evaluations": 80},
    },
    "gradients of two columns, activations, shared cells": {
        "search": part("Slide"),
        "objective": part("Cells"),
        "classifiers": RIVAL,
        "wave": 5,
    },
    "the same, every failure": {
        "search": part("Slide", steps=6),
        "objective": part("Cells"),
        "classifiers": RIVAL,
        "ends": "never",
        "keeps": "every",
        "wave": 4,
    },
    "no label expected, a fitted profile": {
        "search": part("Slide", columns=1),
        "objective": part("Strangeness"),
        "oracle": part("Dim"),
        "ends": "never",
    },
    "nsga2": {
        "search": {"use": "nsga2", "population": 6, "look": [1, 6, 6]},
        "classifiers": RIVAL,
        "budget": {"evaluations": 120},
    },
    "nsga2 without niches, two rivals": {
        "search": {"use": "nsga2", "population": 6, "look": [1, 6, 6], "niches": False},
        "objective": {"use": "divergence", "look": [1, 6, 6], "rivals": ["rival", "rival2"]},
        "oracle": {"use": "disagree", "among": ["tested", "rival", "rival2"]},
        "classifiers": RIVAL | {"rival2": RIVAL["rival"] | {"bias": -0.75}},
        "budget": {"evaluations": 180},
    },
    "mutation_queue": {
        "search": {"use": "mutation_queue", "seeds": 3, "room": 6, "mutants": 4},
        "classifiers": RIVAL,
        "budget": {"evaluations": 120},
    },
    "frontier": {"search": "frontier", "classifiers": RIVAL},
    "frontier, walking, a regression": {
        "search": {"use": "frontier", "hops": 2},
        "classifiers": RIVAL,
        "oracle": "oriented",
        "ends": "never",
        "keeps": "every",
        "budget": {"evaluations": 120},
    },
    "deepxplore, in a latent space": {
        "search": {"use": "deepxplore", "partners": ["rival"], "radius": 3.0, "lambda1": 2.0, "step": 0.05},
        "classifiers": RIVAL,
        "wave": 4,
    },
    "deepxplore, on pixels, published units": {
        "search": {"use": "deepxplore", "partners": ["rival"], "radius": 3.0, "lambda1": 2.0, "chooses": "published"},
        "generator": "pixels",
        "classifiers": RIVAL,
        "wave": 1,
    },
    "dlfuzz, on pixels": {
        "search": {"use": "dlfuzz", "radius": 4.0, "criterion": "nbc", "rise": 0.0, "steps": 8},
        "generator": "pixels",
        "wave": 5,
    },
    "random beside a population": {
        "search": {"use": "random", "starts": 3, "batch": 6, "extent": 0.1},
        "objective": part("Divergence"),
        "oracle": "disagree",
        "classifiers": RIVAL,
        "keeps": "every",
        "ends": "never",
        "budget": {"evaluations": 60},
    },
}


def recipe_of(row, images, lanes=4, **changes):
    facts = toy_recipe(images, attempts=15, baseline={"attempts": 0}, validators=[], **ROWS[row])
    return facts | {"engine": {"chunk": 16, "lanes": lanes, "checkpoint_seconds": 0.001}} | changes


@pytest.mark.parametrize("row", ROWS)
def test_lanes_and_interruptions_change_nothing(row, toy_images, tmp_path):
    whole = foible.run(recipe_of(row, toy_images, 1), tmp_path / "whole")
    assert whole.state == "complete" and whole.counts()[Status.FOUND] > 2, whole.counts()
    for lanes in (7, 32):
        foible.run(recipe_of(row, toy_images, lanes), tmp_path / f"{lanes}")
        assert contents(tmp_path / f"{lanes}") == contents(tmp_path / "whole")
    rounds = 0

    def stop_now_and_then(_):
        nonlocal rounds
        rounds += 1
        if rounds % 9 == 0:
            raise KeyboardInterrupt

    while (
        run := foible.run(recipe_of(row, toy_images, 5), tmp_path / "parts", listen=stop_now_and_then)
    ).state != "complete":
        assert run.state == "interrupted"
    assert rounds > 9, "it was stopped at least once"
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def run_and_die(facts, folder, rounds):
    """For a process of its own: kill -9 itself after so many rounds."""
    left = rounds

    def die(_):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    foible.run(facts, folder, listen=die)


@pytest.fixture(scope="module")
def processes():
    """Processes that start quickly, for they fork from one that has imported everything and runs no thread."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@pytest.mark.parametrize("row", ROWS)
def test_kill_9_in_any_row_changes_nothing(row, toy_images, tmp_path, processes):
    facts = recipe_of(row, toy_images, 5)
    foible.run(facts, tmp_path / "whole")
    for rounds in (3, 4):
        process = processes.Process(target=run_and_die, args=(facts, tmp_path / "killed", rounds))
        process.start()
        process.join(120)
        assert process.exitcode == -signal.SIGKILL, "it was killed while it ran"
    assert foible.run(facts, tmp_path / "killed").state == "complete"
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_kill_9_from_outside_changes_nothing(toy_images, tmp_path):
    recipe = tmp_path / "row.toml"
    facts = recipe_of("the same, every failure", toy_images, attempts=240) | {"budget": {"evaluations": 160}}
    recipe.write_text(tomli_w.dumps(facts))
    foible.run(recipe, tmp_path / "whole")
    command = [sys.executable, "-m", "foible", "run", str(recipe), "--out", str(tmp_path / "killed"), "--quiet"]
    killed = 0
    for pause in (0.05, 0.3):
        process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE)
        _wait_for_outcomes(tmp_path / "killed", process)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed, "it was killed at least once while it ran"
    assert foible.run(recipe, tmp_path / "killed").state == "complete"
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def _wait_for_outcomes(folder, process):
    before = _outcomes(folder)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if _outcomes(folder) > before:
            return
        time.sleep(0.02)


def _outcomes(folder):
    try:
        return sum(open_run(folder).counts().values())
    except StoreError:  # it has not begun to write
        return 0


def test_every_failure_of_a_population_has_its_own_label_number_and_files(toy_images, tmp_path):
    run = foible.run(recipe_of("a population, two classifiers, an archive", toy_images), tmp_path / "run")
    findings = list(run.findings())
    by_attempt = {}
    for finding in findings:
        by_attempt.setdefault(finding.attempt, []).append(finding)
        assert set(finding.before) == set(finding.after) == {"tested", "rival"}
        assert set(finding.measures) == {"divergence", "novelty"}
        said = {role: max(range(3), key=p.__getitem__) for role, p in finding.after.items()}
        assert said["tested"] != said["rival"]
    assert any(len({f.label for f in mine}) > 1 for mine in by_attempt.values()), "origins keep their own labels"
    for outcome in run.outcomes():
        mine = by_attempt.get(outcome.attempt, [])
        assert [f.number for f in mine] == list(range(len(mine))) and outcome.findings == len(mine)
    assert len({f.image for f in findings}) == len(findings)
    assert all(again.fails for again in foible.replay(run))


def test_a_wave_is_searched_with_what_the_waves_before_it_covered(toy_images, tmp_path):
    run = foible.run(recipe_of("gradients of two columns, activations, shared cells", toy_images), tmp_path / "run")
    query = "SELECT wave FROM shared WHERE arm = 'search'"
    assert run.database.execute(query).fetchall() == [(3,)], "15 attempts in waves of 5: the last merge is the third"
    assert run.database.execute("SELECT count(*) FROM memories").fetchone() == (0,)
    other = foible.run(
        recipe_of("gradients of two columns, activations, shared cells", toy_images, wave=15), tmp_path / "other"
    )
    assert contents(tmp_path / "other")[0][:5] == contents(tmp_path / "run")[0][:5], "the first wave knows nothing yet"
    assert contents(tmp_path / "other") != contents(tmp_path / "run"), "the others do"
    assert other.state == "complete"
