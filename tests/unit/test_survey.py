"""Surveys: who is asked what, what the page gives away, and which answer files are refused."""

import json
import re
import sqlite3

import numpy as np
import pytest

from foible.errors import RecipeError
from foible.records import Key, Verdict
from foible.store.answers import NOTHING, OTHER, Answers, give_answer, read_answers, read_checks
from foible.store.layout import Layout
from foible.store.reader import FindingLine
from foible.survey import choices, collect, make_survey
from foible.survey.key import load_keys
from foible.survey.select import doubt, select, spread_checks

from .survey_run import write_run

HEADER = "survey,item,person,answer,seconds,given\n"


def line(attempt, *scores):
    return FindingLine(attempt, 0, 0, 1, 9, 1.0, tuple(Verdict("judge", True, s, "image", 0.4) for s in scores))


def test_the_least_sure_come_first():
    lines = [line(0, 0.9), line(1, 0.41), line(2), line(3, 0.95, 0.35), line(4, 0.0)]
    assert [round(doubt(x), 2) for x in lines[:2]] == [0.5, 0.01]
    chosen = select(lines, 2, "unsure", np.random.default_rng(0))
    assert {x.attempt for x in chosen} == {1, 3}
    assert len(select(lines, 99, "unsure", np.random.default_rng(0))) == 5
    assert {x.attempt for x in select(lines, 4, "unsure", np.random.default_rng(0))} == {0, 1, 3, 4}


def test_a_shuffled_choice_is_fair_and_repeats_itself():
    lines = [line(k, k / 10) for k in range(10)]
    picks = [tuple(x.attempt for x in select(lines, 3, "shuffled", np.random.default_rng(s))) for s in range(200)]
    assert picks[0] == tuple(x.attempt for x in select(lines, 3, "shuffled", np.random.default_rng(0)))
    often = np.bincount(np.array(picks).ravel(), minlength=10)
    assert often.min() > 35 and often.max() < 90  # 60 expected each


def test_checks_are_spread():
    marks = spread_checks(90, 10, np.random.default_rng(0))
    assert len(marks) == 100 and [sum(marks[k : k + 10]) for k in range(0, 100, 10)] == [1] * 10
    assert spread_checks(3, 0, np.random.default_rng(0)) == [False] * 3


def test_answers_have_keys():
    assert [(c.text, c.key) for c in choices(("cat", "dog"))] == [("cat", "1"), ("dog", "2"), ("not recognisable", "x")]
    assert [c.key for c in choices(tuple("0123456789"))] == [*"0123456789", "x"]
    many = choices(tuple(f"class {k}" for k in range(100)))
    assert (many[33].key, many[34].key) == ("z", "") and [c.answer for c in many[-2:]] == [OTHER, NOTHING]


def test_what_people_say_together():
    answers = Answers({"A": {1: 0, 2: 0, 3: NOTHING, 4: 1}, "B": {1: 1, 2: NOTHING, 3: NOTHING, 4: 2}, "C": {4: 0}})
    assert answers.valid(1) is True and answers.kept(1, 0) is None, (
        "two classes: an image of the domain, label undecided"
    )
    assert answers.kept(1, 2) is False, "nobody sees class 2"
    assert answers.valid(2) is None and answers.kept(2, 0) is None
    assert answers.valid(3) is False and answers.kept(3, 0) is False
    assert answers.valid(9) is None and answers.kept(9, 0) is None


def test_a_database_of_the_first_release_is_read_and_goes_on(tmp_path):
    layout = Layout(tmp_path)
    with sqlite3.connect(layout.answers) as database:
        database.execute(
            "CREATE TABLE answers (arm TEXT NOT NULL, attempt INTEGER NOT NULL, person TEXT NOT NULL, "
            "answer INTEGER NOT NULL, given TEXT NOT NULL, PRIMARY KEY (arm, attempt, person))"
        )
        database.execute("INSERT INTO answers VALUES ('search', 3, 'Ada', 1, '2026-01-01')")
    before = layout.answers.read_bytes()
    assert read_answers(layout).by_person == {"Ada": {Key(3): 1}} and read_checks(layout) == []
    assert layout.answers.read_bytes() == before, "readers do not write"
    give_answer(layout, "Ada", Key(4), NOTHING)
    give_answer(layout, "Ada", Key(3, 2), 0)
    assert read_answers(layout).by_person == {"Ada": {Key(3): 1, Key(3, 2): 0, Key(4): NOTHING}}


@pytest.fixture
def survey(tmp_path, toy_images):
    run = write_run(tmp_path / "run", [(k / 9, 0.5) for k in range(10)], toy_images)
    made = make_survey(run, tmp_path / "survey.html", images=8, checks=4, seed=3)
    return run, made, load_keys(run.layout)[made.name]


def test_the_page_holds_no_answers(survey):
    run, made, key = survey
    page = made.page.read_text()
    content = json.loads(re.search(r'id="content">(.*?)</script>', page)[1])
    assert set(content) == {"survey", "columns", "said", "items", "choices"}
    assert [set(i) for i in content["items"]] == [{"item", "picture", "classes"}] * 12
    assert not any(i["classes"] for i in content["items"])
    assert [i["item"] for i in content["items"]] == list(key.questions)
    assert sum(q.expected is not None for q in key.questions.values()) == 4
    assert {len(name) for name in key.questions} == {12}
    assert str(run.layout.folder) not in page and "expected" not in page
    assert not re.search(r"https?://|@import|<link|url\(", page)
    assert set(re.findall(r'"picture": "(.{22})', page)) == {"data:image/png;base64,"}


def test_the_same_settings_make_the_same_survey(survey, tmp_path):
    run, made, _ = survey
    again = make_survey(run, tmp_path / "again.html", images=8, checks=4, seed=3)
    assert again.name == made.name and again.page.read_bytes() == made.page.read_bytes()
    assert make_survey(run, tmp_path / "other.html", images=8, checks=4, seed=4).name != made.name
    assert make_survey(run, tmp_path / "usual.html").checks == 2, "a tenth of the questions, at least"


def test_class_names_cannot_break_the_page(tmp_path, toy_images):
    hostile = ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}")
    pages = []
    for name, classes in {"hostile": hostile, "plain": ("a", "b", "c")}.items():
        run = write_run(tmp_path / name, [None], toy_images, classes=classes)
        pages.append(make_survey(run, tmp_path / f"{name}.html", checks=0).page.read_text())
    assert pages[0].count("<script") == pages[1].count("<script") and "<img src=x" not in pages[0]


def test_no_findings_or_no_real_images_is_said(tmp_path, toy_images):
    with pytest.raises(RecipeError, match="has no failures"):
        make_survey(write_run(tmp_path / "empty", [], toy_images), tmp_path / "s.html")
    run = write_run(tmp_path / "run", [None], tmp_path / "gone")
    with pytest.raises(RecipeError, match="attention checks need real images") as caught:
        make_survey(run, tmp_path / "s.html")
    assert "--checks 0" in caught.value.hint
    assert make_survey(run, tmp_path / "s.html", checks=0).images == 1


def answer_file(path, key, person="Ada", right=True, see=0):
    rows = [
        f"{key.survey},{item},{person},{(q.expected if right else (q.expected + 1) % 3) if q.attempt is None else see},1.5,"
        "2026-11-16T01:02:03+00:00\n"
        for item, q in key.questions.items()
    ]
    path.write_text(HEADER + "".join(rows))
    return path


def test_answers_come_back(survey, tmp_path):
    run, _, key = survey
    [ada] = collect(run, [answer_file(tmp_path / "a.csv", key)])
    assert (ada.person, ada.answers, ada.replaced, ada.checks.count, ada.taken) == ("Ada", 8, 0, 4, True)
    asked = {q.finding for q in key.questions.values() if q.finding is not None}
    assert read_answers(run.layout).by_person == {"Ada": dict.fromkeys(asked, 0)}
    [again] = collect(run, [answer_file(tmp_path / "a.csv", key, see="none")])
    assert again.replaced == 8 and set(read_answers(run.layout).by_person["Ada"].values()) == {NOTHING}


def test_people_who_do_not_look_are_left_out_unless_wanted(survey, tmp_path):
    run, _, key = survey
    files = [answer_file(tmp_path / "a.csv", key), answer_file(tmp_path / "b.csv", key, "Bob", right=False)]
    assert [(p.person, p.taken) for p in collect(run, files)] == [("Ada", True), ("Bob", False)]
    assert set(read_answers(run.layout).by_person) == {"Ada"}
    assert {c.person for c in read_checks(run.layout)} == {"Ada", "Bob"}
    collect(run, files[1:], keep_all=True)
    assert set(read_answers(run.layout).by_person) == {"Ada", "Bob"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("survey,item", "item,survey"), "line 1: the first line is not"),
        (lambda t: "", "cut off"),
        (lambda t: t[:-20], "cut off: its last line has no end"),
        (lambda t: t[:-20] + "\n", "line 13: given '2026-1"),
        (lambda t: t + t.splitlines(True)[3], "line 14: 'Ada' has answered item"),
        (lambda t: t.replace(",0,1.5", ",3,1.5", 1), "there is no class 3"),
        (lambda t: t.replace(",0,1.5", ",-1,1.5", 1), "answer '-1' is neither"),
        (lambda t: t.replace(",0,1.5", ",²,1.5", 1), "answer '²' is neither"),
        (lambda t: t.replace(",0,1.5", f",{'9' * 5000},1.5", 1), "is neither a class number"),
        (lambda t: t.replace("1.5", "nan", 1), "seconds 'nan' is not a time"),
        (lambda t: t.replace("1.5", "-1", 1), "seconds '-1' is not a time"),
        (lambda t: t.replace("Ada", " ", 1), "a name is missing"),
        (lambda t: t.replace("Ada", "A\x07da", 1), "a name is missing"),
        (lambda t: t.replace("Ada", '"Ada', 1), "line"),
        (lambda t: t.replace(t.splitlines()[2].split(",")[1], "unknown", 1), "has no item 'unknown'"),
        (lambda t: t.replace(t.splitlines()[2].split(",")[0], "0123", 1), "survey '0123', which was not made from"),
        (lambda t: t.replace("Ada,", "Ada,Ada,", 1), "7 values instead of 6"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused_whole(survey, tmp_path, change, message):
    run, _, key = survey
    good, bad = answer_file(tmp_path / "good.csv", key, "Eve"), answer_file(tmp_path / "bad.csv", key)
    bad.write_text(change(bad.read_text()))
    with pytest.raises(RecipeError, match=re.escape(message)):
        collect(run, [good, bad])
    assert read_answers(run.layout).by_person == {} and read_checks(run.layout) == []


def test_files_that_are_no_text_are_refused(survey, tmp_path):
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(RecipeError, match="not text"):
        collect(survey[0], [tmp_path / "b.csv"])
    with pytest.raises(RecipeError, match="cannot read"):
        collect(survey[0], [tmp_path / "absent.csv"])


def test_a_spreadsheet_may_have_been_between(survey, tmp_path):
    run, _, key = survey
    path = answer_file(tmp_path / "a.csv", key)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert collect(run, [path])[0].answers == 8
