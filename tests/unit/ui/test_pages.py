"""What pages answer, and that no path from a browser is used as one."""

import io
import sqlite3
import zipfile
from html import unescape

import pytest

from foible.report.comparison import compare
from foible.store import open_run
from foible.store.answers import NOTHING, give_answer, read_answers
from foible.store.layout import Layout
from foible.testing.runs import BUDGET, Story, write_run


def test_every_page_of_a_run_is_there(visit, runs):
    client = visit()
    key = open_run(runs / "toy").index()[0].key
    for path in (
        "",
        "/live",
        "/findings",
        f"/findings/{key}",
        "/people",
        "/people/results",
        "/export",
        "/report",
        "/log",
    ):
        answer = client.get(f"/runs/toy{path}")
        assert answer.status_code == 200, path
        assert "taken for" in answer.text or path in {"/people", "/people/results", "/export", "/log"}
    for path in ("/runs", "/ask/coverage", "/ask/judging", "/setup?question=borders", "/setup?question=changes"):
        assert client.get(path).status_code == 200, path
    assert client.get("/ask/else").status_code == client.get("/setup?question=else").status_code == 400
    assert client.get("/runs/toy/judge").headers["location"] == "/runs/toy/people", "where it used to be"
    assert client.get("/").text.count('class="run"') == 1
    assert "toy-classifier" not in client.get("/setup").text


@pytest.mark.parametrize("name", ["%2e%2e", "..%2f..%2fetc", ".hidden", "a%00b", "toy%2f..", "absent", "x" * 200])
@pytest.mark.parametrize("page", ["", "/live", "/findings", "/export/findings.zip", "/report"])
def test_no_name_leads_out_of_the_runs_folder(visit, name, page):
    assert visit().get(f"/runs/{name}{page}").status_code in {307, 400, 404}


@pytest.mark.parametrize("file", ["manifest.json", "..%2fmanifest.json", "run.sqlite", "%2e%2e"])
def test_only_exports_can_be_fetched(visit, file):
    assert visit().get(f"/runs/toy/export/{file}").status_code == 404


def test_static_files_stay_in_their_folder(visit):
    assert visit().get("/static/style.css").status_code == 200
    assert visit().get("/static/../app.py").status_code == 404
    assert visit().get("/static/%2e%2e/app.py").status_code == 404


def test_a_run_that_others_write_appears_while_it_is_read(visit, runs):
    (runs / "fresh").mkdir()
    (runs / "fresh" / "recipe.toml").write_text("")
    client = visit()
    assert 'data-state="not begun"' in client.get("/runs/fresh").text
    assert "fresh" in client.get("/").text
    (runs / "broken").mkdir()
    (runs / "broken" / "manifest.json").write_text("{}")
    (runs / "broken" / "run.sqlite").write_text("no database")
    assert 'data-state="damaged"' in client.get("/").text


def test_many_images_can_be_taken_away(visit, runs):
    run = open_run(runs / "toy")
    row = run.database.execute("SELECT * FROM findings LIMIT 1").fetchone()
    names = [c[1] for c in run.database.execute("PRAGMA table_info(findings)")]
    said = "SELECT role, moment, probabilities FROM outputs WHERE arm = ? AND attempt = ?"
    outputs = run.database.execute(said, (row[0], row[1])).fetchall()
    with sqlite3.connect(runs / "toy" / "run.sqlite") as database:
        for attempt in range(1000, 2000):
            values = [attempt if n == "attempt" else v for n, v in zip(names, row, strict=True)]
            database.execute(f"INSERT INTO findings VALUES ({','.join('?' * len(values))})", values)
            for output in outputs:
                database.execute("INSERT INTO outputs VALUES (?, ?, 0, ?, ?, ?)", (row[0], attempt, *output))
    client = visit()
    with zipfile.ZipFile(io.BytesIO(client.get("/runs/toy/export/findings.zip").content)) as archive:
        assert len(archive.namelist()) > 2000
    assert client.get("/runs/toy/findings?page=30").text.count('class="card"') == 24


def test_answers_are_checked(visit, runs):
    client = visit()
    key = open_run(runs / "toy").index()[0].key

    def say(**values):
        text = "&".join(f"{k}={v}" for k, v in values.items())
        return client.post("/runs/toy/people/answer", content=text, headers={"accept": "application/json"}).status_code

    assert say(person="Ada", finding=key, answer=1) == 200
    assert say(person="Ada", finding=key, answer=2) == 200, "an answer can be changed"
    assert say(person="", finding=key, answer=1) == 400
    assert say(person="Ada", finding=key, answer=7) == 400
    assert say(person="Ada", finding=99999, answer=1) == 404
    assert say(person="Ada", finding="x", answer="y") == 400
    assert read_answers(Layout(runs / "toy")).by_person == {"Ada": {key: 2}}
    said = client.get("/runs/toy/people/questions?person=Ada").json()
    assert said["answers"] == [{"item": str(key), "answer": "2"}]
    assert {frozenset(item) for item in said["items"]} == {frozenset({"item", "picture"})}, "nothing about classes"
    assert say(person="Ada", finding=key, undone="yes") == 200, "and taken back"
    assert read_answers(Layout(runs / "toy")).by_person == {}


def test_people_stand_beside_the_verdicts_when_runs_are_compared(visit, runs):
    client, layout = visit(), Layout(runs / "toy")
    assert "by people" not in client.get("/compare?run=toy").text
    first, second, *_ = open_run(runs / "toy").index()
    for key, said in ((first.key, first.label), (second.key, NOTHING)):
        give_answer(layout, "Ada", key, said)
    page = client.get("/compare?run=toy").text
    assert page.count("1 of 2, 50.0 %") == 2 and "valid, label kept, by people" in page
    assert "Valid, by people (2 asked)" in client.get("/runs/toy").text


def test_runs_are_compared_as_on_the_command_line(visit, runs):
    stories = [Story(True, 10, True)] * 15 + [Story(False, BUDGET)] * 5
    write_run(runs / "descent", stories, search={"use": "descent", "extent": "high"})
    write_run(runs / "genetic", stories[12:] + [Story(False, BUDGET)] * 12)
    write_run(runs / "elsewhere", stories, seed=3, search={"use": "random"})
    page = unescape(visit().get("/compare?run=descent&run=genetic&run=elsewhere&run=toy").text)
    expected = compare([open_run(runs / "descent"), open_run(runs / "genetic")])
    assert len(expected.sentences) == 3 and all(sentence in page for sentence in expected.sentences)
    assert "descent and elsewhere cannot be paired: seed: 0 -> 3" in page
    assert "descent and toy cannot be paired: " in page and "domain: pets ->" in page


def test_the_board_of_people_is_about_people(visit, runs):
    line = open_run(runs / "toy").index()[0]
    verdict = '[{"validator": "v", "accepted": true, "score": 0.9, "about": "image"}]'
    with sqlite3.connect(runs / "toy" / "run.sqlite") as database:
        database.execute("UPDATE findings SET verdicts = ?", (verdict,))
    give_answer(Layout(runs / "toy"), "Ada", line.key, NOTHING)
    assert "0 of 1," in visit().get("/runs/toy/people/results").text, "what validators say is not what people say"
    asked = visit().get("/runs/toy/people").text
    assert "0 of 1" not in asked and "expected class" not in asked, "whoever answers is not told what others saw"


def test_text_from_users_is_escaped(visit, runs):
    client = visit()
    key = open_run(runs / "toy").index()[0].key
    client.post("/runs/toy/people/answer", content=f"person=<script>x</script>&finding={key}&answer=1")
    page = client.get("/runs/toy/people/results").text
    assert "<script>x" not in page and "&lt;script&gt;x" in page
    assert "<b>" not in client.get("/setup?name=<b>").text.split('name="name"')[1].split(">")[0]
