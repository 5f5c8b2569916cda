"""Attempts with several findings: every address, file, answer and denominator tells them apart."""

import json
import zipfile
from xml.etree import ElementTree as XML

import pytest
from typer.testing import CliRunner

from foible.api import run as run_campaign
from foible.cli.main import app
from foible.errors import RecipeError, StoreError
from foible.records import Key
from foible.report import junit_xml, plain_summary, render_page, summarise
from foible.report.arms import when_found
from foible.report.curve import chart
from foible.store import open_run
from foible.store.answers import NOTHING, give_answer, read_answers
from foible.store.export import to_zip
from foible.survey import collect, make_survey
from foible.survey.key import load_keys
from foible.testing.toys import toy_recipe, write_toy_images
from foible.types import Status


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Three attempts, each of which goes on and keeps every failure."""
    folder = tmp_path_factory.mktemp("several")
    changes = {"attempts": 3, "ends": "never", "keeps": "every", "budget": {"evaluations": 150}}
    recipe = toy_recipe(write_toy_images(folder / "toys"), **changes, baseline={"attempts": 0})
    run_campaign(recipe, folder / "run")
    opened = open_run(folder / "run")
    assert max(o.findings for o in opened.outcomes()) > 3
    return opened


def test_a_key_is_written_one_way():
    assert [str(Key(12)), str(Key(12, 3)), Key(12).padded, Key(12, 3).padded] == ["12", "12-3", "000012", "000012-0003"]
    assert Key.read("12") == Key(12, 0) and Key.read("12-3") == Key.read("000012-0003") == Key(12, 3)
    for text in ("", "-1", "1-", "a", "1-2-3", "1 2", "9" * 40, "\u0661"):
        with pytest.raises(RecipeError, match="names no failure"):
            Key.read(text)


def test_findings_are_found_by_key(run):
    keys = [line.key for line in run.index()]
    assert len(set(keys)) == len(keys) == sum(o.findings for o in run.outcomes())
    assert run.finding(Key(0, 1)).key == Key(0, 1) and run.finding(0).key == Key(0)
    with pytest.raises(StoreError, match="no failure 0-9999") as missing:
        run.finding(Key(0, 9999))
    assert "0, 0-1, 0-2" in missing.value.hint


def test_what_was_found_from_one_origin_shares_its_file(run):
    findings = list(run.findings())
    origins = {f.attempt: f.origin_image for f in findings}
    assert {f.origin_image for f in findings} == set(origins.values()), (
        "one for each attempt, which has one origin here"
    )
    files = [p.name for p in (run.layout.folder / "images").glob("*-origin.png")]
    assert len(files) == len(origins) < len(findings) == len({f.image for f in findings})


def test_replay_takes_keys(run):
    said = CliRunner().invoke(app, ["replay", str(run.layout.folder), "0-1", "1"])
    assert said.exit_code == 0 and "2 of 2 failures still fail" in said.output
    assert said.stdout.startswith("000000-0001") and "\n000001 " in said.stdout
    assert CliRunner().invoke(app, ["replay", str(run.layout.folder), "0-x"]).exit_code == 2


def test_files_do_not_overwrite_each_other(run, tmp_path):
    count = to_zip(run, tmp_path / "all.zip").count
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        names = archive.namelist()
    assert len(set(names)) == len(names) == 2 * count + 2
    assert any("_000000-0001_" in name for name in names)


def test_an_origin_is_one_test_with_all_its_failures(run):
    cases = XML.fromstring(junit_xml(run)).findall("testcase")
    assert len(cases) == 3
    failure = cases[0].find("failure")
    assert failure.get("message").endswith(" more") and f"foible replay {run.layout.folder} 0-1" in failure.text


def test_origins_are_counted_once_and_judgements_by_failure(run):
    summary = summarise(run)
    found = sum(o.status is Status.FOUND for o in run.outcomes())
    stages = {stage.name: stage for stage in summary.search.funnel}
    assert stages["confirmed"].rate.count == found <= stages["confirmed"].rate.total == 3
    assert (
        "a starting image counts once" in stages["confirmed"].meaning
        and "counted by failure" in stages["valid"].meaning
    )
    assert summary.metrics["findings"] == len(run.index()) > found and "failures in all" in summary.headline
    first = [min(f.evaluations for f in run.findings() if f.attempt == k) for k in range(3)]
    assert summary.search.evaluations_to_failure.median == sorted(first)[1], "not the whole budget"
    page = render_page(run)
    assert f"foible replay {run.layout.folder} 0-1" in page
    spent = "per starting image that failed, unsolved ones included"
    assert f"evaluations {spent}" in page and spent in plain_summary(summary)
    curve = chart([("", when_found(list(run.outcomes()), run.index()))], 150).curves[0]
    begins = {f"{100 * evaluations / 150:.2f}" for evaluations in first}
    assert begins <= {point.split(",")[0] for point in curve.points.split()}, "failures, when they were found"


def test_people_answer_about_each(run, tmp_path):
    give_answer(run.layout, "Ada", Key(0, 1), 2)
    give_answer(run.layout, "Ada", Key(0), NOTHING)
    assert read_answers(run.layout).by_person["Ada"] == {Key(0): NOTHING, Key(0, 1): 2}
    made = make_survey(run, tmp_path / "survey.html", images=500, checks=0)
    key = load_keys(run.layout)[made.name]
    assert {q.finding for q in key.questions.values()} == {line.key for line in run.index()}
    rows = [f"{key.survey},{item},Ben,{q.number % 3},1.0,2026-01-01T00:00:00" for item, q in key.questions.items()]
    (tmp_path / "answers.csv").write_text("\n".join(["survey,item,person,answer,seconds,given", *rows]) + "\n")
    [ben] = collect(run, [tmp_path / "answers.csv"])
    assert ben.answers == len(run.index())
    said = read_answers(run.layout).by_person["Ben"]
    assert said == {line.key: line.number % 3 for line in run.index()}
    again = CliRunner().invoke(app, ["survey", "report", str(run.layout.folder), "--json"])
    assert json.loads(again.output)["asked"] == len(run.index())
