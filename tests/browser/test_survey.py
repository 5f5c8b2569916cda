"""A survey from end to end: made by the command line, answered in Chromium from a file, taken back, reported."""

import json
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from foible.records import Key
from foible.store import open_run
from foible.store.answers import NOTHING, read_answers, read_ratings
from foible.store.layout import Layout
from foible.survey import collect, make_survey
from foible.survey.key import load_keys

from .conftest import SLOW


def foible(*arguments):
    done = subprocess.run([sys.executable, "-m", "foible", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def run(runs, tmp_path):
    return shutil.copytree(runs / "toy-wide", tmp_path / "run")


@pytest.fixture
def rater(browser):
    """Someone who opens a file in a browser of their own, without a network."""
    opened = []

    def sit_down(path, **options):
        context = browser.new_context(viewport={"width": 1000, "height": 800}, offline=True, **options)
        context.set_default_timeout(SLOW)
        page = context.new_page()
        page.complaints, page.foreign = [], []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda said: page.complaints.append(said.text) if said.type == "error" else None)
        page.on(
            "request",
            lambda asked: (
                page.foreign.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else None
            ),
        )
        page.goto(path.as_uri())
        opened.append((context, page))
        return page

    yield sit_down
    for context, page in opened:
        assert not page.complaints and not page.foreign
        context.close()


def begin(page, name):
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Begin").click()


def test_a_survey_goes_out_and_comes_back(rater, run, tmp_path):
    said = foible("survey", run, "--images", 8, "--checks", 3, "--out", tmp_path / "survey.html", "--margin", 0.1)
    assert "8 of" in said and "3 attention checks" in said and "±10 %" in said
    [key] = load_keys(Layout(run)).values()
    questions = list(key.questions.values())
    page = rater(tmp_path / "survey.html")
    begin(page, "  Ada   Lovelace ")

    def press(question):  # findings: the first class, then nothing; checks: what they are
        page.keyboard.press(str(question.expected + 1) if question.attempt is None else "1x"[question.attempt % 2])

    for k in range(5):
        expect(page.locator("#count")).to_have_text(f"{k + 1} of 11")
        press(questions[k])
    picture = page.locator("#picture")
    assert picture.evaluate("i => getComputedStyle(i).imageRendering") == "pixelated"
    assert picture.evaluate("i => i.clientWidth > 20 * i.naturalWidth")
    page.keyboard.press("2")
    expect(page.locator("#count")).to_have_text("7 of 11")
    page.keyboard.press("Backspace")
    expect(page.locator("#count")).to_have_text("6 of 11")

    page.reload()
    expect(page.get_by_label("Your name")).to_have_value("Ada Lovelace")
    expect(page.locator("#before")).to_contain_text("5 of 11 answered")
    page.get_by_role("button", name="Begin").click()
    for k in range(5, 11):
        expect(page.locator("#count")).to_have_text(f"{k + 1} of 11")
        press(questions[k])
    expect(page.locator("#done")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "answers-Ada-Lovelace.csv"
    download.value.save_as(tmp_path / "answers.csv")

    taken = foible("survey", "import", run, tmp_path / "answers.csv")
    assert "Ada Lovelace: 8 answers taken, attention checks 3 of 3" in taken
    asked = [q.attempt for q in questions if q.attempt is not None]
    assert read_answers(Layout(run)).by_person == {"Ada Lovelace": {Key(a): NOTHING if a % 2 else 0 for a in asked}}
    report = json.loads(foible("survey", "report", run, "--json"))
    assert report["valid"]["total"] == 8 and report["valid"]["count"] == sum(a % 2 == 0 for a in asked)
    assert (
        report["people"] == [{"name": "Ada Lovelace", "answers": 8, "checks": report["people"][0]["checks"]}]
        and report["people"][0]["checks"]["share"] == 1
    )


def test_ratings_of_two_classes_go_out_and_come_back(rater, run, tmp_path):
    make_survey(open_run(run), tmp_path / "ratings.html", 4, 2, ratings=True)
    [key] = load_keys(Layout(run)).values()
    questions = list(key.questions.values())
    page = rater(tmp_path / "ratings.html")
    page.set_viewport_size({"width": 380, "height": 720})
    begin(page, "Ada")
    count, groups = page.locator("#count"), page.get_by_role("group")

    def press(question):  # the class it came from: 4 for findings, 5 for checks; the other: 2
        for rating in question.turn((5 if question.attempt is None else 4, 2)):
            page.keyboard.press(str(rating))

    expect(groups).to_have_count(2)
    first, second = (key.classes[k] for k in questions[0].turn(questions[0].rated))
    expect(groups.nth(0)).to_contain_text(f"How much does this look like {first}?")
    expect(groups.nth(1)).to_contain_text(f"How much does this look like {second}?")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert sum(page.get_by_role("button", name="clearly").nth(1).bounding_box()[k] for k in ("y", "height")) <= 720
    for key_of_no_rating in "06x":
        page.keyboard.press(key_of_no_rating)
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)

    page.keyboard.press("3")
    expect(groups.nth(0).locator("[aria-pressed=true]")).to_have_text("3in part")
    expect(count).to_have_text("1 of 6")
    page.keyboard.press("Backspace")
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)
    groups.nth(1).get_by_role("button", name="a little").click()  # the second question may be answered first
    expect(page.locator(".next")).to_contain_text(f"look like {first}?")
    page.keyboard.press("Backspace")
    for k in range(3):
        expect(count).to_have_text(f"{k + 1} of 6")
        press(questions[k])
    page.keyboard.press("1")
    page.keyboard.press("Backspace")
    expect(count).to_have_text("4 of 6")
    page.keyboard.press("Backspace")
    expect(count).to_have_text("3 of 6")
    page.keyboard.press("1")  # half an answer is not kept

    page.reload()
    expect(page.locator("#before")).to_contain_text("2 of 6 answered")
    page.get_by_role("button", name="Begin").click()
    for k in range(2, 6):
        expect(count).to_have_text(f"{k + 1} of 6")
        press(questions[k])
    expect(page.locator("#done")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "answers.csv")
    [ada] = collect(open_run(run), [tmp_path / "answers.csv"])
    assert (ada.person, ada.answers, ada.taken, ada.checks.count) == ("Ada", 4, True, 2)
    assert {(r.person, r.source, r.target) for r in read_ratings(Layout(run))} == {("Ada", 4, 2)}


def test_two_people_at_one_browser_do_not_mix(rater, run, tmp_path):
    make_survey(open_run(run), tmp_path / "survey.html", 3, 0)
    page = rater(tmp_path / "survey.html")
    begin(page, "Ada")
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("2 of 3")
    page.reload()
    begin(page, "Ben")
    expect(page.locator("#count")).to_have_text("1 of 3")
    page.get_by_role("button", name="not recognisable").click()
    page.reload()
    begin(page, "Ada")
    expect(page.locator("#count")).to_have_text("2 of 3")


def test_a_survey_fits_a_phone_in_the_dark(rater, run, tmp_path):
    make_survey(open_run(run), tmp_path / "survey.html", 3)
    page = rater(tmp_path / "survey.html", color_scheme="dark")
    page.set_viewport_size({"width": 380, "height": 720})
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 20, 18)"
    begin(page, "Ada")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    last = page.get_by_role("button", name="not recognisable").bounding_box()
    assert last["y"] + last["height"] <= 720, "every answer is in sight"
