"""What people's answers come to, and thresholds fitted to them, by hand."""

import json

import numpy as np
import pytest

from foible.errors import RecipeError
from foible.records import Key
from foible.store.answers import NOTHING, Answer, CheckAnswer, add_answers
from foible.survey import make_survey
from foible.survey.recalibrate import balanced_error, best_threshold, cross_validated_error, recalibrated
from foible.survey.report import people_report
from foible.survey.text import report_lines
from foible.validators.calibration import Calibration, FittedThreshold

from .survey_run import write_run

WHEN = "2026-01-01T00:00:00+00:00"


def give(run, **people):
    rows = [
        Answer(Key(attempt), person, said, WHEN)
        for person, mine in people.items()
        for attempt, said in enumerate(mine)
        if said is not None
    ]
    add_answers(run.layout, rows)


def test_shares_agreement_and_validators(tmp_path):
    run = write_run(tmp_path / "run", [(0.9, 0.9), (0.8, 0.3), (0.6, 0.6), (0.1, 0.1), None])
    give(run, Ada=[0, 1, NOTHING, NOTHING, 0], Ben=[0, 1, NOTHING, NOTHING, 1], Cem=[0, 2, NOTHING, 0, None])
    said = people_report(run)
    assert (said.findings, said.asked, said.answers, said.fair) == (5, 5, 14, True)
    assert (said.valid.count, said.valid.total, said.valid_undecided) == (3, 5, 0)
    assert (said.kept.count, said.kept.total, said.kept_undecided) == (1, 4, 1), "finding 4: one each"
    assert said.valid_answers.value == pytest.approx(9 / 14)
    image = next(v.result for v in said.validators if v.about == "image")
    assert (image.items, image.auc) == (4, 1.0)
    assert (image.false_accept.count, image.false_accept.total) == (1, 2)
    label = next(v.result for v in said.validators if v.about == "label")
    assert (label.true_accept.total, label.false_accept.count, label.false_accept.total) == (1, 1, 3)
    which, valid, _ = said.agreement
    assert which.fleiss.items == 4 and which.alpha.items == 5
    assert [(p.first, p.second, p.kappa.items) for p in which.pairs] == [
        ("Ada", "Ben", 5),
        ("Ada", "Cem", 4),
        ("Ben", "Cem", 4),
    ]
    assert valid.pairs[0].kappa.value == 1 and valid.pairs[0].share == 1
    assert json.loads(said.model_dump_json())["valid"]["count"] == 3
    text = "\n".join(report_lines(said))
    assert "3 people, 14 answers on 5 of 5 failures" in text and "valid (most see a class)         3 of 5" in text


def test_people_who_were_left_out_are_named(tmp_path):
    run = write_run(tmp_path / "run", [None])
    with pytest.raises(RecipeError, match="nobody has answered"):
        people_report(run)
    add_answers(run.layout, [], [CheckAnswer("s", "i", "Bob", 1, 0, 1.0, WHEN)])
    text = "\n".join(report_lines(people_report(run)))
    assert "Bob: 0 answers, attention checks 0 of 1, left out" in text
    assert "no failure has both a verdict and a majority" in text


def test_a_choice_of_close_calls_is_no_fair_sample(tmp_path, toy_images):
    run = write_run(tmp_path / "run", [(0.9, 0.9), (0.5, 0.5)], toy_images)
    make_survey(run, tmp_path / "s.html", images=1, checks=0)
    give(run, Ada=[None, 0])
    assert not people_report(run).fair
    assert any("no random sample" in line for line in report_lines(people_report(run)))
    give(run, Ada=[0, 0])
    assert people_report(run).fair, "all findings were asked about"


def test_the_report_repeats_itself(tmp_path):
    run = write_run(tmp_path / "run", [None] * 6)
    give(run, Ada=[0, 1, 0, NOTHING, 1, 0], Ben=[0, 1, 1, NOTHING, 0, 0])
    assert people_report(run, 1) == people_report(run, 1)


def test_the_best_threshold_by_hand():
    scores, truth = np.array([0.1, 0.2, 0.3, 0.7, 0.9]), np.array([False, False, True, True, True])
    assert best_threshold(scores, truth) == pytest.approx(0.25)
    assert balanced_error(scores >= 0.25, truth) == 0
    assert balanced_error(scores >= 0.5, truth) == pytest.approx(1 / 6)
    assert balanced_error(scores >= 0.15, truth) == pytest.approx(1 / 4)


def test_cross_validation_sees_through_luck():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2 == 0
    noise = cross_validated_error(rng.random(200), truth)
    assert 0.4 < noise < 0.65
    assert cross_validated_error(np.where(truth, 0.9, 0.1), truth) == 0


def test_thresholds_are_fitted_to_people(tmp_path):
    scores = [(0.8 + k / 100, 0.5) for k in range(12)] + [(0.6 + k / 100, 0.5) for k in range(12)]
    run = write_run(tmp_path / "run", scores)
    give(run, Ada=[0] * 12 + [NOTHING] * 12)
    fitted = recalibrated(run)
    assert fitted.calibration.image == FittedThreshold(threshold=0.755, n=24, accepted=12, error=0)
    assert fitted.calibration.label.threshold == 0.5 and fitted.calibration.label.error == 0.5, (
        "scores that say nothing"
    )
    fitted.calibration.save(tmp_path / "people.toml")
    assert Calibration.load(tmp_path / "people.toml") == fitted.calibration


def test_too_few_answers_of_either_kind_are_refused(tmp_path):
    run = write_run(tmp_path / "run", [(0.8, 0.5)] * 24)
    give(run, Ada=[0] * 15 + [NOTHING] * 9)
    with pytest.raises(RecipeError, match="image: 15 accepted and 9 rejected") as caught:
        recalibrated(run)
    assert "10 of each" in caught.value.message and "more failures" in caught.value.hint
    give(run, Ada=[0] * 12 + [1] * 3 + [NOTHING] * 9)
    half = recalibrated(run)
    assert half.calibration.image is None and half.calibration.label is not None and len(half.skipped) == 1
    with pytest.raises(RecipeError, match="with a verdict of 'other'"):
        recalibrated(run, "other")


def test_calibration_files_are_checked(tmp_path):
    path = tmp_path / "c.toml"
    with pytest.raises(RecipeError, match="cannot read calibration"):
        Calibration.load(path)
    for text in ("[image]\nthreshold = 2\nn = 1\naccepted = 1\nerror = 0", "[imge]\n", "x", "image = 3"):
        path.write_text(text)
        with pytest.raises(RecipeError, match="is wrong"):
            Calibration.load(path)
    path.write_text("[label]\nthreshold = 0.7\nn = 30\naccepted = 12\nerror = 0.2\n")
    assert (Calibration.load(path).threshold("label"), Calibration.load(path).threshold("image")) == (0.7, 0.5)
