"""Surveys that ask for ratings of two classes: what the page tells, which files are refused, what the numbers are."""

import json
import re
import sqlite3

import numpy as np
import pytest

from foible.errors import RecipeError
from foible.records import Key
from foible.store.answers import CheckAnswer, Rating, add_answers, give_answer, read_answers, read_checks, read_ratings
from foible.store.layout import Layout
from foible.survey import collect, make_survey
from foible.survey.choices import scale
from foible.survey.key import SurveyKey, load_keys
from foible.survey.ratings import ratings_report
from foible.survey.report import people_report
from foible.survey.text import report_lines

from .survey_run import CLASSES, write_run

HEADER = "survey,item,person,first,second,seconds,given\n"
WHEN = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def run(tmp_path, toy_images):
    return write_run(tmp_path / "run", [(k / 19, 0.5) for k in range(20)], toy_images)


@pytest.fixture
def key(run, tmp_path):
    made = make_survey(run, tmp_path / "ratings.html", images=16, checks=4, seed=3, ratings=True)
    return load_keys(run.layout)[made.name]


def rating_file(path, key, person="Ada", of_findings=(4, 2), of_checks=(5, 1)):
    """A file in which the first class of every question, as the key has them, gets the first rating."""
    rows = [
        f"{key.survey},{item},{person},{first},{second},1.5,{WHEN}\n"
        for item, question in key.questions.items()
        for first, second in [question.turn(of_checks if question.attempt is None else of_findings)]
    ]
    path.write_text(HEADER + "".join(rows))
    return path


def test_the_page_asks_about_two_classes_and_tells_neither_which_nor_what_is_a_check(run, key, tmp_path):
    page = (tmp_path / "ratings.html").read_text()
    content = json.loads(re.search(r'id="content">(.*?)</script>', page)[1])
    assert (content["said"], ",".join(content["columns"]) + "\n") == (["first", "second"], HEADER)
    assert [(c["answer"], c["key"]) for c in content["choices"]] == [(k, str(k)) for k in range(1, 6)]
    assert [set(i) for i in content["items"]] == [{"item", "picture", "classes"}] * 20
    shown = [i["classes"] for i in content["items"]]
    findings = [classes for classes, q in zip(shown, key.questions.values(), strict=True) if q.attempt is not None]
    assert {tuple(classes) for classes in findings} == {("left", "middle"), ("middle", "left")}, (
        "origin first, and last"
    )
    for classes, question in zip(shown, key.questions.values(), strict=True):
        assert classes == [CLASSES[k] for k in question.turn(question.rated)] and len(set(classes)) == 2
        assert question.rated == (0, 1) if question.expected is None else question.rated[0] == question.expected
    assert not any(word in page for word in ("swapped", "expected", "attempt", str(run.layout.folder)))


def test_both_kinds_of_survey_can_be_made_of_one_run(run, key, tmp_path):
    usual = make_survey(run, tmp_path / "survey.html", images=16, checks=4, seed=3)
    other = load_keys(run.layout)[usual.name]
    assert (key.asks, other.asks) == ("ratings", "class") and usual.name != key.survey
    assert [q.attempt for q in other.questions.values()] == [q.attempt for q in key.questions.values()]
    again = make_survey(run, tmp_path / "again.html", images=16, checks=4, seed=3, ratings=True)
    assert again.name == key.survey


def test_keys_of_earlier_surveys_ask_for_classes():
    text = '{"survey":"s","created":"c","seed":0,"order":"unsure","classes":["a"],"questions":{"i":{"attempt":3}}}'
    earlier = SurveyKey.model_validate_json(text)
    assert earlier.asks == "class" and earlier.questions["i"].rated is None


def test_a_finding_that_is_taken_for_what_it_is_cannot_be_rated(run, tmp_path):
    with sqlite3.connect(run.layout.database) as database:
        database.execute("UPDATE findings SET predicted = label WHERE attempt > 4")
    assert make_survey(run, tmp_path / "s.html", checks=0, ratings=True).images == 5
    assert make_survey(run, tmp_path / "s.html", checks=0).images == 20


def test_ratings_come_back_as_source_and_target(run, key, tmp_path):
    [ada] = collect(run, [rating_file(tmp_path / "a.csv", key)])
    assert (ada.answers, ada.replaced, ada.checks.count, ada.checks.total, ada.taken) == (16, 0, 4, 4, True)
    stored = read_ratings(run.layout)
    assert {r.finding for r in stored} == {q.finding for q in key.questions.values()} - {None}
    assert {(r.person, r.source, r.target, r.given, r.seconds, r.survey) for r in stored} == {
        ("Ada", 4, 2, WHEN, 1.5, key.survey)
    }
    assert read_answers(run.layout).by_person == {}, "ratings are no answers"
    [again] = collect(run, [rating_file(tmp_path / "a.csv", key, of_findings=(1, 5))])
    assert again.replaced == 16 and {(r.source, r.target) for r in read_ratings(run.layout)} == {(1, 5)}


@pytest.mark.parametrize("of_checks", [(1, 5), (3, 3), (1, 1)])
def test_the_class_of_a_real_image_must_be_rated_higher(run, key, tmp_path, of_checks):
    files = [rating_file(tmp_path / "a.csv", key), rating_file(tmp_path / "b.csv", key, "Bob", of_checks=of_checks)]
    assert [(p.person, p.checks.count, p.taken) for p in collect(run, files)] == [("Ada", 4, True), ("Bob", 0, False)]
    assert {r.person for r in read_ratings(run.layout)} == {"Ada"}
    said = people_report(run)
    assert said.people == () and [(p.name, p.answers) for p in said.ratings.people] == [("Ada", 16), ("Bob", 0)]
    assert "Bob: 0 ratings, attention checks 0 of 4, left out" in "\n".join(report_lines(said))
    collect(run, files[1:], keep_all=True)
    assert {r.person for r in read_ratings(run.layout)} == {"Ada", "Bob"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("first,second", "second,first"), "line 1: the first line is not"),
        (lambda t: t[:-20], "cut off: its last line has no end"),
        (lambda t: t.replace(",3,3,", ",6,3,", 1), "'6' is not a rating from 1 to 5"),
        (lambda t: t.replace(",3,3,", ",3,0,", 1), "'0' is not a rating from 1 to 5"),
        (lambda t: t.replace(",3,3,", ",,3,", 1), "'' is not a rating"),
        (lambda t: t.replace(",3,3,", ",3.0,3,", 1), "'3.0' is not a rating"),
        (lambda t: t.replace(",3,3,", ",none,3,", 1), "'none' is not a rating"),
        (lambda t: t.replace(",3,3,", ",3,", 1), "6 values instead of 7"),
        (lambda t: t + t.splitlines(True)[3], "line 22: 'Ada' has answered item"),
        (lambda t: t.replace("first,second", "answer").replace(",3,3,", ",0,").replace(",5,1,", ",0,").replace(
            ",1,5,", ",0,"), "asks for two ratings"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_whole(run, key, tmp_path, change, message):
    good = rating_file(tmp_path / "good.csv", key, "Eve")
    bad = rating_file(tmp_path / "bad.csv", key, of_findings=(3, 3))
    bad.write_text(change(bad.read_text()))
    with pytest.raises(RecipeError, match=re.escape(message)):
        collect(run, [good, bad])
    assert read_ratings(run.layout) == [] and read_checks(run.layout) == []


def test_ratings_are_refused_where_a_class_was_asked_for(run, tmp_path):
    made = make_survey(run, tmp_path / "s.html", images=2, checks=0)
    item = next(iter(load_keys(run.layout)[made.name].questions))
    (tmp_path / "a.csv").write_text(f"{HEADER}{made.name},{item},Ada,1,2,1.5,{WHEN}\n")
    with pytest.raises(RecipeError, match="asks for a class"):
        collect(run, [tmp_path / "a.csv"])


def test_a_database_without_ratings_is_read_and_goes_on(tmp_path):
    layout = Layout(tmp_path)
    give_answer(layout, "Ada", Key(3), 1)
    with sqlite3.connect(layout.answers) as database:
        database.execute("DROP TABLE ratings")
    assert read_ratings(layout) == [] and read_answers(layout).by_person == {"Ada": {Key(3): 1}}
    add_answers(layout, [], ratings=[Rating(Key(3), "Ada", 5, 1, WHEN)])
    assert read_ratings(layout) == [Rating(Key(3), "Ada", 5, 1, WHEN)]
    assert read_answers(layout).by_person == {"Ada": {Key(3): 1}}


def test_the_numbers_by_hand():
    """Image 0: (5, 1) and (4, 2), image 1: (3, 3) alone. Confusion (1 + 3) / 2 = 2 and 5, bias (4 + 2) / 2 = 3 and 0."""
    ratings = [Rating(Key(0), "Ada", 5, 1, WHEN), Rating(Key(0), "Ben", 4, 2, WHEN), Rating(Key(1), "Ada", 3, 3, WHEN)]
    said = ratings_report(ratings, [], findings=9, fair=False, rng=np.random.default_rng(0))
    assert (said.findings, said.rated, said.ratings, said.fair) == (9, 2, 3, False)
    assert (said.confusion.value, said.acceptability.value, said.bias.value) == (3.5, 6, 1.5), "each image counts once"
    assert (said.confusion.low, said.confusion.high, said.confusion.items) == (2, 5, 2)
    assert [(a.about, a.level, a.alpha.items) for a in said.agreement] == [
        ("source", "ordinal", 1),
        ("target", "ordinal", 1),
    ]
    everything = ratings_report(ratings, [], findings=2, fair=False, rng=np.random.default_rng(0))
    assert everything.fair, "all findings were rated"


def test_people_who_rate_alike_agree():
    """Source: 1 1, 3 3, 5 5. Target: 1 5, 3 3, 5 1, which is as far apart as can be."""
    pairs = {"Ada": [(1, 1), (3, 3), (5, 5)], "Ben": [(1, 5), (3, 3), (5, 1)]}
    ratings = [Rating(Key(k), who, *pair, WHEN) for who, mine in pairs.items() for k, pair in enumerate(mine)]
    source, target = ratings_report(ratings, [], 3, True, np.random.default_rng(0)).agreement
    assert source.alpha.value == 1
    assert target.alpha.value == pytest.approx(-2 / 3), "1 - 5 * 4 * 4^2 / (2 * (4 * 2^2 + 4 * 2^2 + 4 * 4^2))"


def test_answers_and_ratings_stand_side_by_side(run, key):
    add_answers(run.layout, [], ratings=[Rating(Key(k), "Ada", 4, 3, WHEN) for k in range(3)])
    alone = report_lines(people_report(run))
    assert alone[0] == "1 person, 3 ratings of two classes on 3 of 20 failures" and "valid" not in "\n".join(alone)
    assert any(line.endswith("4.00 (4.00 to 4.00), 3 images") for line in alone)
    assert any("no random sample" in line for line in alone)
    give_answer(run.layout, "Cem", Key(0), 1)
    add_answers(run.layout, [], [CheckAnswer(key.survey, "i", "Ada", 0, 0, 1.0, WHEN)])
    both = people_report(run)
    assert both.fair and not both.ratings.fair, "the closest calls were shown for ratings only"
    assert [p.name for p in both.people] == ["Cem"] and both.ratings.people[0].checks.count == 1
    text = "\n".join(report_lines(both))
    assert "1 person, 1 answer on 1 of 20" in text and text.endswith("\n".join(alone[-3:]))
    assert json.loads(both.model_dump_json())["ratings"]["confusion"]["value"] == 4


def test_the_scale_has_five_keys():
    assert [c.key for c in scale()] == [*"12345"] and (scale()[0].text, scale()[-1].text) == ("not at all", "clearly")
