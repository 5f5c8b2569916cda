"""Which method confuses people most: controls in a survey, and runs compared origin by origin."""

import json

import pytest
from typer.testing import CliRunner

from foible.cli.main import app
from foible.errors import RecipeError
from foible.records import Key
from foible.store.answers import Rating, add_answers, read_ratings
from foible.survey import collect, make_survey
from foible.survey.key import load_keys
from foible.survey.methods import CONTROL, compare_methods, method_lines
from foible.survey.report import people_report
from foible.survey.text import report_lines

from .survey_run import write_run

HEADER = "survey,item,person,first,second,seconds,given\n"
WHEN = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def run(tmp_path, toy_images):
    return write_run(tmp_path / "run", [(k / 5, 0.5) for k in range(6)], toy_images)


def rated(run, scores, arm="search", person="Ada", seconds=4.0):
    """Attempt k gets the k-th pair of ratings (source, target)."""
    add_answers(
        run.layout, [], (), [Rating(Key(k), person, *pair, WHEN, seconds, "s", arm) for k, pair in enumerate(scores)]
    )


def test_controls_show_the_origin_of_every_finding_and_are_kept_apart(run, tmp_path):
    made = make_survey(run, tmp_path / "page.html", images=4, checks=0, seed=3, ratings=True, controls=True)
    key = load_keys(run.layout)[made.name]
    questions = list(key.questions.values())
    assert sorted((q.attempt, q.control) for q in questions) == sorted(
        (a, c) for a in {q.attempt for q in questions} for c in (False, True)
    )
    assert len(questions) == 8 and "control" not in (tmp_path / "page.html").read_text().split("<script")[-2]
    file = tmp_path / "answers.csv"
    lines = [
        f"{key.survey},{item},Ada,{first},{second},{40 if q.control else 2},{WHEN}\n"
        for item, q in key.questions.items()
        for first, second in [q.turn((5, 1) if q.control else (3, 3))]
    ]
    file.write_text(HEADER + "".join(lines))
    assert [(c.answers, c.replaced) for c in collect(run, [file])] == [(8, 0)]
    assert [(c.answers, c.replaced) for c in collect(run, [file])] == [(8, 8)]
    assert {(r.source, r.target) for r in read_ratings(run.layout)} == {(3, 3)}
    assert {(r.source, r.target) for r in read_ratings(run.layout, "control")} == {(5, 1)}
    said = people_report(run).ratings
    assert (said.confusion.value, said.seconds.value) == (5.0, 2.0)
    assert (said.control.confusion.value, said.control.images) == (1.0, 4)
    assert said.control.seconds.value is None, "40 seconds: whoever answered was away"
    assert any("4 starting images as the generator makes them" in line for line in report_lines(people_report(run)))


def test_controls_without_ratings_are_refused(run, tmp_path):
    with pytest.raises(RecipeError, match="no ratings"):
        make_survey(run, tmp_path / "page.html", controls=True)


@pytest.fixture
def two(tmp_path, toy_images):
    first, second = (write_run(tmp_path / name, [None] * 4, toy_images) for name in ("first", "second"))
    rated(first, [(3, 3), (3, 2), (5, 1), (4, 4)])  # confusion 5, 4, 1, 5
    rated(second, [(5, 1), (3, 3), (4, 1), (2, 2)])  # confusion 1, 5, 2, 5
    return first, second


def test_the_most_confusing_method_is_counted_per_origin(two):
    said = compare_methods(two)
    wins = {m.name: (m.most_confusing.count, m.most_confusing.total) for m in said.methods}
    assert said.origins == 4 and said.ties == 1
    assert wins == {"by-hand": (1, 4), "by-hand (second)": (2, 4)}
    assert said.methods[0].scores.confusion.value == 3.75 and said.methods[0].scores.seconds.value == 4.0
    assert said.methods[0].scores.acceptability.value == pytest.approx((6 + 5 + 6 + 8) / 4)
    (difference,) = said.differences
    assert difference.delta == pytest.approx(2 * (3 + 2 + 0.5 + 3) / 16 - 1)
    assert difference.p == difference.corrected


def test_the_plain_reconstruction_stands_beside_the_methods(two):
    rated(two[0], [(5, 1), (5, 1), (5, 2), (4, 1)], arm="control")
    said = compare_methods(two)
    assert [m.name for m in said.methods][-1] == CONTROL and len(said.differences) == 3
    assert said.methods[-1].scores.confusion.value == 1.5
    assert any(line.startswith(CONTROL) for line in method_lines(said))


def test_the_verb_prints_and_gives_json(two):
    folders = [str(run.layout.folder) for run in two]
    said = CliRunner().invoke(app, ["survey", "compare", *folders])
    assert said.exit_code == 0 and "most confusing for 2 of 4 starting images" in said.output, said.output
    facts = json.loads(CliRunner().invoke(app, ["survey", "compare", *folders, "--json"]).output)
    assert facts["origins"] == 4


def test_runs_that_cannot_be_compared_are_named(two, run):
    with pytest.raises(RecipeError, match="one method"):
        compare_methods(two[:1])
    with pytest.raises(RecipeError, match="nobody has rated"):
        compare_methods([two[0], run])
    with pytest.raises(RecipeError, match="named twice"):
        compare_methods([two[0], two[1], two[0]])
