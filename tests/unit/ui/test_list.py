"""The list of runs and what can be done with each; the gallery's selection; sessions that end."""

import io
import json
import zipfile

import pytest

from foible.store import open_run
from foible.store.answers import NOTHING, give_answer
from foible.store.layout import Layout
from foible.ui.glance import Tally, day
from foible.ui.jobs import Jobs
from foible.ui.memos import read_memo
from foible.ui.shelf import Shelf

SAID = {"accept": "application/json"}


def test_a_run_says_when_how_long_and_with_what(visit):
    page = visit().get("/runs").text
    for words in ("took", "genetic, extent 0.02 · 9 starting images, 400 evaluations each · seed 0"):
        assert words in page, words
    overview = visit().get("/runs/toy").text
    assert "Begun" in overview and "took" in overview and "genetic, extent 0.02" in overview


def test_a_title_and_notes_of_ones_own(visit, runs):
    client = visit()
    said = {"title": "My <b>best</b> run", "notes": "first line\nsecond"}
    assert client.post("/runs/toy/memo", data=said).status_code == 303
    page = client.get("/runs").text
    assert "My &lt;b&gt;best&lt;/b&gt; run" in page and "first line" in page
    assert "My &lt;b&gt;best" in client.get("/runs/toy").text
    assert read_memo(Layout(runs / "toy")).notes == "first line\nsecond"
    assert client.post("/runs/toy/memo", data={"title": "x" * 200}, headers=SAID).status_code == 400
    (runs / "toy" / "memo.json").write_text("[1]")
    assert client.get("/runs").status_code == 200, "a damaged memo is no memo"


def test_runs_are_searched(visit):
    client = visit()
    assert 'data-run="toy"' in client.get("/runs?q=genetic+toy").text
    assert "No run fits" in client.get("/runs?q=zebra").text
    assert 'data-run="toy"' in client.get("/runs?state=complete").text
    assert "No run fits" in client.get("/runs?state=running").text
    assert client.get("/runs?page=9999999999").status_code == 200


def test_a_run_is_deleted_unless_it_is_going(visit, runs, monkeypatch):
    client = visit()
    monkeypatch.setattr(Jobs, "going", lambda self, name: True)
    assert client.post("/runs/toy/remove").status_code == 404 and (runs / "toy").is_dir()
    monkeypatch.undo()
    assert client.post("/runs/toy/remove").status_code == 303 and not (runs / "toy").exists()
    for name in ("..%2f..", "absent", "%2e%2e"):
        assert client.post(f"/runs/{name}/remove").status_code in {307, 400, 404}


def test_the_same_again_with_changes(visit, runs):
    from foible.testing.runs import Story, write_run

    facts = {"domain": "mnist", "generator": {"use": "mnist-vae"}, "classifier": {"use": "mnist-lenet1"}}
    write_run(runs / "before", [Story(True, 10, True)], **facts, search={"use": "genetic", "extent": "low"}, seed=5)
    page = visit().get("/setup?again=before").text
    assert '<option value="mnist-lenet1" data-for="mnist" selected>' in page
    assert 'name="seed" aria-describedby="n-seed" value="5"' in page and "<details" in page
    assert 'href="/setup?again=before"' in visit().get("/runs").text


def test_the_place_in_the_queue_is_said(runs, monkeypatch, visit):
    monkeypatch.setattr(Jobs, "_has_room", lambda self: False)
    jobs = Jobs(Shelf(runs))
    for name in ("one", "two"):
        jobs.start(name, {"name": name})
    assert jobs.place("two") == 2 and jobs.place("toy") == 0
    assert "number 2 in the queue" in visit().get("/runs").text


def test_what_was_selected_is_taken_away_and_nothing_else(visit, runs):
    client, lines = visit(), open_run(runs / "toy").index()
    keys = ",".join(str(line.key) for line in lines[:2])
    assert "2 of" in client.get(f"/runs/toy/export?keys={keys}").text
    with zipfile.ZipFile(io.BytesIO(client.get(f"/runs/toy/export/findings.zip?keys={keys}").content)) as archive:
        assert sum(n.endswith("_origin.png") for n in archive.namelist()) == 2
    picture = client.get(f"/runs/toy/findings/{lines[0].key}/failure.png")
    assert picture.content[:4] == b"\x89PNG" and "expected-" in picture.headers["content-disposition"]
    assert client.get(f"/runs/toy/findings/{lines[0].key}/start.png").status_code == 200
    assert client.get(f"/runs/toy/findings/{lines[0].key}/manifest.png").status_code == 404


def test_failures_are_sorted_by_confidence_and_verdict(visit, runs):
    run = open_run(runs / "toy")
    sure = run.confidences()
    assert sure == {f.key: pytest.approx(f.confidence) for f in run.findings()}
    page = visit().get("/runs/toy/findings?order=sure").text
    shown = [part.split('"')[0] for part in page.split('data-finding="')[1:]]
    assert shown == [str(k) for k in sorted(sure, key=lambda k: -sure[k])]
    first = run.index()[-1]
    give_answer(Layout(runs / "toy"), "Ada", first.key, first.label)
    give_answer(Layout(runs / "toy"), "Ada", run.index()[0].key, NOTHING)
    page = visit().get("/runs/toy/findings?order=counting").text
    assert page.split('data-finding="')[1].startswith(f'{first.key}"') and "does not count" in page


def test_the_number_that_counts_leads(visit, runs):
    lines = open_run(runs / "toy").index()
    for k, line in enumerate(lines[:4]):
        give_answer(Layout(runs / "toy"), "Ada", line.key, line.label if k else NOTHING)
    for path in ("/", "/runs", "/runs/toy", "/runs/toy/findings", "/compare?run=toy"):
        assert "3 of 4" in visit().get(path).text, path
    assert Tally(9, 0, 0).number == "9" and "not judged" in Tally(9, 0, 0).text
    assert Tally(9, 4, 3).text == "failures count, 5 not judged"


def test_whoever_came_with_a_password_can_leave(visit):
    client = visit(password="long enough")
    assert client.post("/login", data={"password": "long enough"}).status_code == 303
    assert "Log out" in client.get("/").text
    assert client.post("/logout").headers["location"] == "/login"
    assert client.get("/").status_code == 303, "the session is over"
    assert "Log out" not in visit().get("/").text


def test_a_survey_is_made_answered_and_taken_back_on_the_page(visit, runs):
    client = visit()
    made = client.post("/runs/toy/survey", data={"images": "3", "order": "shuffled", "asks": "class"})
    assert made.status_code == 200 and "What do you see?" in made.text
    content = json.loads(made.text.split('id="content">')[1].split("</script>")[0])
    rows = [f"{content['survey']},{one['item']},Ada,0,1.0,2026-01-01T00:00:00+00:00" for one in content["items"]]
    text = "\n".join([",".join(content["columns"]), *rows, ""])
    said = client.post("/runs/toy/survey/answers", content=text, headers=SAID)
    assert said.status_code == 200 and "Ada: 3 answers" in said.json()["lines"][0]
    assert client.post("/runs/toy/survey/answers", content="no,csv", headers=SAID).status_code == 400
    assert client.post("/runs/toy/survey", data={"images": "0"}).status_code == 400
    for kind in ("js", "css"):
        assert client.get(f"/asking.{kind}").status_code == 200
    assert client.get("/asking.py").status_code == 400


def test_dates_are_read_by_people():
    assert day("2026-11-17T06:28:15+00:00") == "17 Nov 2026, 06:28" and day("whenever") == "whenever"
