"""`foible compare` as a user runs it, and the page that shows the same."""

import json

from foible.report.comparison import Comparison
from foible.testing.runs import BUDGET, Story, write_run
from tests.journeys.conftest import foible

STRONG = [Story(True, 10, True)] * 15 + [Story(False, BUDGET)] * 5
WEAK = [Story(True, 60, False)] * 4 + [Story(False, BUDGET)] * 16


def test_compare_prints_and_writes(tmp_path):
    write_run(tmp_path / "descent", STRONG, search={"use": "descent"})
    write_run(tmp_path / "genetic", WEAK)
    done = foible("compare", tmp_path / "descent", tmp_path / "genetic", "--json", tmp_path / "c.json")
    assert done.returncode == 0, done.stderr
    assert "descent finds more failures that count than genetic: 15 against 0 of 20 starting images" in done.stdout
    written = Comparison.model_validate_json((tmp_path / "c.json").read_text())
    assert written.correction == "holm" and all(s in done.stdout for s in written.sentences)
    other = foible(
        "compare", tmp_path / "descent", tmp_path / "genetic", "--correction", "benjamini-hochberg", "-q",
        "--json", tmp_path / "d.json",
    )  # fmt: skip
    assert other.stdout == "" and json.loads((tmp_path / "d.json").read_text())["correction"] == "benjamini-hochberg"


def test_runs_that_share_nothing_are_refused_with_the_reason(tmp_path):
    write_run(tmp_path / "a", STRONG)
    write_run(tmp_path / "b", WEAK, seed=7, search={"use": "random"})
    done = foible("compare", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 2
    assert "do not start from the same images" in done.stderr and "seed: 0 -> 7" in done.stderr
    assert foible("compare", tmp_path / "a").returncode == 2
    assert foible("compare", tmp_path / "a", tmp_path / "absent").returncode == 3
