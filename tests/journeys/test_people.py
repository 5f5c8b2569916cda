"""Surveys as a user runs them, from the command line."""

import json

import pytest

from foible.records import Key
from foible.store import open_run
from foible.store.answers import NOTHING, Answer, add_answers
from foible.survey.key import load_keys
from foible.validators.calibration import Calibration
from tests.unit.survey_run import write_run

from .conftest import foible


@pytest.fixture
def run(tmp_path, toy_images):
    return write_run(tmp_path / "run", [(k / 40, 1 - k / 40) for k in range(40)], toy_images)


def test_the_short_form_and_the_long_form_are_the_same(run, tmp_path):
    folder = run.layout.folder
    short = foible("survey", folder, "--images", 9)
    assert short.returncode == 0 and "9 of 40 failures and 1 attention checks" in short.stdout
    assert "show 37 of them at random" in short.stdout
    page = (folder / "survey.html").read_bytes()
    long = foible("survey", "make", "--images", 9, folder, "--out", tmp_path / "other.html")
    assert long.returncode == 0 and (tmp_path / "other.html").read_bytes() == page
    assert foible("survey", "--images", 9, folder).returncode == 0
    assert len(load_keys(run.layout)) == 1
    for words in (("survey", "-h"), ("survey", "import", "-h")):
        assert foible(*words).returncode == 0


def test_two_people_rate_findings_for_two_classes(run, tmp_path):
    folder = run.layout.folder
    made = foible("survey", folder, "--ratings", "--images", 9, "--order", "shuffled")
    assert made.returncode == 0 and "9 of 40 failures and 1 attention checks" in made.stdout
    assert (folder / "ratings.html").is_file() and not (folder / "survey.html").exists()
    [key] = load_keys(run.layout).values()
    for name, origin in (("Ada", 4), ("Ben", 5)):
        rows = [
            f"{key.survey},{item},{name},{first},{second},2.5,2026-01-01T00:00:00+00:00"
            for item, question in key.questions.items()
            for first, second in [question.turn((origin, 1 + (question.attempt or 0) % 2))]
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["survey,item,person,first,second,seconds,given", *rows, ""]))
    taken = foible("survey", "import", folder, tmp_path / "Ada.csv", tmp_path / "Ben.csv")
    assert taken.returncode == 0 and "Ben: 9 answers taken, attention checks 1 of 1" in taken.stdout
    report = json.loads(foible("survey", "report", folder, "--json").stdout)
    odd = sum((question.attempt or 0) % 2 for question in key.questions.values())
    ratings = report["ratings"]
    assert (report["answers"], ratings["ratings"], ratings["rated"], ratings["fair"]) == (0, 18, 9, True)
    assert ratings["confusion"]["value"] == pytest.approx(1.5 + odd / 9), "5 - 4.5 + the rating for the target"
    assert ratings["acceptability"]["value"] == pytest.approx(5.5 + odd / 9)
    assert ratings["bias"]["low"] <= ratings["bias"]["value"] == pytest.approx(3.5 - odd / 9)
    assert [(a["level"], a["alpha"]["value"]) for a in ratings["agreement"]][1] == ("ordinal", 1)
    text = foible("survey", "report", folder).stdout
    assert "2 people, 18 ratings of two classes on 9 of 40 failures" in text and "alpha, ordinal" in text
    assert foible("report", folder).returncode == 0, "the report on the run does not mind"


def test_what_is_wrong_is_said_without_a_traceback(run, tmp_path):
    folder = run.layout.folder
    nobody = foible("survey", "report", folder)
    assert nobody.returncode == 2 and "nobody has answered" in nobody.stderr and "hint:" in nobody.stderr
    (tmp_path / "a.csv").write_text("not,an,answer\n")
    wrong = foible("survey", "import", folder, tmp_path / "a.csv")
    assert wrong.returncode == 2 and "line 1" in wrong.stderr
    assert foible("survey", tmp_path / "absent").returncode == 3
    assert foible("survey", folder, "--order", "sideways").returncode == 2
    assert foible("survey", folder, "--images", 0).returncode == 2


def test_thresholds_move_to_where_people_draw_the_line(run, tmp_path):
    folder, target = run.layout.folder, tmp_path / "people.toml"
    early = [Answer(Key(k), "Ada", 0, "2026-01-01T00:00:00+00:00") for k in range(5)]
    add_answers(run.layout, early)
    few = foible("survey", "report", folder, "--recalibrate", target)
    assert few.returncode == 2 and "10 of each are needed" in few.stderr and not target.exists()
    late = [Answer(Key(k), "Ada", 0 if k >= 28 else NOTHING, "2026-01-01T00:00:00+00:00") for k in range(40)]
    add_answers(run.layout, late)
    done = foible("survey", "report", folder, "--recalibrate", target)
    assert done.returncode == 0 and "image threshold 0.688" in done.stdout
    fitted = Calibration.load(target)
    assert fitted.image.threshold == pytest.approx((27 + 28) / 80) and fitted.image.error < 0.1
    report = json.loads(foible("survey", "report", folder, "--json").stdout)
    image = next(v for v in report["validators"] if v["about"] == "image")
    assert image["result"]["auc"] == 1 and image["result"]["false_accept"]["count"] == 8
    assert "valid, by people (40 asked)" in foible("report", folder).stdout
    assert open_run(folder).state == "complete"
