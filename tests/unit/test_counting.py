"""Failures that count come first: in the headline, the summary, the page and the gate, with the judge's error beside them."""

import pytest

from foible.report import check_gate
from foible.report.counting import known_error
from foible.report.page import render_page
from foible.report.summary import summarise
from foible.report.text import plain_summary
from foible.testing.runs import Story, write_run
from foible.zoo import entry

STORIES = [Story(True, 10, True), Story(True, 20, False), Story(True, 30, False), Story(False, 40), Story(False, None)]


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run", STORIES)


def test_the_first_number_is_of_failures_that_count(run):
    summary = summarise(run)
    assert summary.headline.startswith("1 of 3 confirmed failures of classifier count (33.3 %")
    assert "at 100 evaluations for each starting image with one" in summary.headline, "all that was spent: 10+20+30+40"
    assert "From 3 of 4 starting images" in summary.headline
    text = plain_summary(summary)
    assert text.index("1 of 3 confirmed failures count") < text.index("attempts ended")
    page = render_page(run, summary)
    assert page.index("<b>1 of 3</b>") < page.index("<b>3 of 4</b>")
    assert summary.key_stage == "counts"


def test_a_gate_can_ask_for_them_and_says_them_beside_failures(run):
    metrics = summarise(run).metrics
    assert metrics["counting_failure_rate"] == 0.25 and metrics["counting_evaluations_per_failure"] == 100
    gate = check_gate(["failure_rate > 0.9", "counting_failure_rate > 0.2", "evaluations > 1000"], metrics)
    first, second, third = gate.lines
    assert first.endswith("failure_rate is 0.75 (1 of 3 count)")
    assert second.startswith("FAIL") and "(" not in second + third


def test_what_was_not_judged_is_said_not_to_be(tmp_path):
    summary = summarise(write_run(tmp_path / "run", [Story(True, 10), Story(False, 40)]))
    assert summary.counting is None and summary.key_stage == "confirmed" and not summary.known_error
    assert summary.headline.startswith("From 1 of 2") and "which of them count was not judged" in summary.headline
    assert summary.metrics["counting_failure_rate"] is None
    assert check_gate("failure_rate > 0.9", summary.metrics).lines[0].endswith("is 0.5")


def test_the_error_of_the_very_judge_is_known(run):
    card = entry("mnist-judge")
    said = known_error({"mnist-judge.safetensors": card.sha256})
    assert f"{100 * card.figures['invalid_called_valid']:.1f} % valid" in said
    assert known_error({"mnist-judge.safetensors": "another"}) == ""
    summary = summarise(run).model_copy(update={"known_error": said})
    assert said[:30] in plain_summary(summary) and said[:30] in render_page(run, summary)
