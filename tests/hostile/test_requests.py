"""Requests that no browser of ours sends: each gets an answer, none an error of the server, none a word about its disk."""

import asyncio
import tempfile

import pytest
from starlette.testclient import TestClient

from foible.campaign import load_recipe
from foible.testing.toys import toy_recipe, write_toy_images
from foible.ui import attempts, sessions
from foible.ui.app import Settings, create_app
from foible.ui.attempts import Attempts
from foible.ui.discretion import Discretion
from foible.ui.probing import Probing
from tests.hostile.conftest import HERE

RUN = "/runs/{name}"
GETS = {
    "number of 26 digits": RUN + "/findings/" + "9" * 26,
    "number of 5000 digits": RUN + "/findings/" + "9" * 5000,
    "number beyond SQLite": RUN + "/findings/" + str(2**63),
    "path of 26 digits": RUN + "/findings/" + "9" * 26 + "/path",
    "number below zero": RUN + "/findings/-1",
    "number in other digits": RUN + "/findings/%D9%A3",
    "no number": RUN + "/findings/x",
    "filter out of range": RUN + "/findings?label=99&predicted=-1&least=x&page=" + "9" * 30,
    "filter of zeros": RUN + "/findings?page=0&label=00000000000",
    "order unknown": RUN + "/findings?order=moon&valid=perhaps",
    "run above": "/runs/..%2f..%2fetc",
    "run with a zero": "/runs/a%00b",
    "run with escape codes": "/runs/%1b%5b2J",
    "run of 5000 letters": "/runs/" + "a" * 5000,
    "run with a script": "/runs/%3Cscript%3E",
    "export above": RUN + "/export/..%2f..%2frun.sqlite",
    "export unknown": RUN + "/export/run.sqlite",
    "picture above": "/pictures/domain/..%2f..%2fetc%2fpasswd.png",
    "picture unknown": "/pictures/generator/moon.png",
    "static above": "/static/..%2f..%2fapp.py",
    "compare with nothing": "/compare?run=moon&run=&run=../x",
    "setup of an unknown recipe": "/setup?recipe=../../etc/passwd",
    "setup with odd values": "/setup?domain=%00&attempts=-1&generator=../x&classifier=upload:moon&size=1e9",
    "recipe of an odd setup": "/setup/recipe.toml?name=../../x&classifier=/etc/passwd",
    "person without a name": RUN + "/judge/question?person=",
    "person with escape codes": RUN + "/judge/question?person=%1b[2J",
    "broken percent": "/runs/%",
    "double slashes": "//evil.example//runs",
}
HEADERS = {
    "host of half an address": {"host": "[::1"},
    "host of letters": {"host": "]["},
    "host with a port of letters": {"host": "127.0.0.1:port"},
    "host with a space": {"host": "127.0.0.1 evil"},
    "empty host": {"host": ""},
    "odd cookie": {"cookie": "foible_session=\x01; ;;=;foible_session"},
    "long cookie": {"cookie": "foible_session=" + "a" * 5000},
    "odd accept": {"accept": "application/json;;q=x"},
}
POSTS = {
    "origin of half an address": ("/runs", {"origin": "http://[::1"}, b""),
    "form of nothing": ("/setup/preview", {}, b""),
    "form of garbage": ("/setup/preview", {}, b"\x00\xff%%%&&&==="),
    "form without end": ("/setup/preview", {}, b"a=" + b"x" * 300_000),
    "start of nothing": ("/runs", {}, b"name=../../x"),
    "upload without a name": ("/uploads", {}, b"x"),
    "upload of another kind": ("/uploads?name=a.exe", {}, b"MZ"),
    "upload with a path": ("/uploads?name=../../../a.onnx", {}, b"x"),
    "upload of nothing": ("/uploads?name=a.onnx", {}, b""),
    "upload of garbage": ("/uploads?name=a.pt", {}, b"\x80\x02garbage"),
    "upload that claims to be a zip": ("/uploads?name=a.pt2", {}, b"PK\x03\x04" + b"\0" * 50),
    "upload of broken safetensors": ("/uploads?name=a.safetensors", {}, b"\xff" * 8 + b"{"),
    "answer of garbage": (RUN + "/judge/answer", {}, b"person=x&attempt=" + b"9" * 30 + b"&answer=1"),
    "answer without end": (RUN + "/judge/answer", {}, b"person=" + b"x" * 100_000),
    "stop of a run that is not going": (RUN + "/stop", {}, b""),
}  # fmt: skip


def fine(answer):
    assert answer.status_code < 500, answer.text
    assert tempfile.gettempdir() not in answer.text.replace("<code>", "\n<code>").split("\n<code>")[0], answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("path", GETS.values(), ids=GETS)
def test_odd_addresses(received, path):
    fine(received.client.get(path.format(name=received.folder.name)))


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_odd_headers(received, headers):
    fine(received.client.get("/", headers=headers))


@pytest.mark.parametrize(("path", "headers", "body"), POSTS.values(), ids=POSTS)
def test_odd_messages(received, path, headers, body):
    path = path.format(name=received.folder.name)
    for accept in ("text/html", "application/json"):
        fine(received.client.post(path, content=body, headers={"accept": accept, **headers}))


def test_a_flood_of_visitors_pushes_nobody_out(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 20)
    kept = sessions.Sessions(None)
    token, mine = kept.begin()
    upload = mine.new_upload("a.onnx")
    upload.path.write_bytes(b"x")
    mine.uploads[upload.key] = upload
    for _ in range(100):
        kept.begin()
    assert kept.find(token) is mine and upload.path.exists()
    assert len(kept._sessions) <= 20
    kept.close()


def test_passwords_cannot_be_guessed_many_at_a_time(monkeypatch):
    now = [0.0]
    tries = Attempts(lambda: now[0])
    assert [tries.begin("10.0.0.1") > 0 for _ in range(50)] == [False] * 5 + [True] * 45
    assert tries.begin("10.0.0.2") == 0, "another address may still try"
    now[0] = 31.0
    assert tries.begin("10.0.0.1") == 0 and tries.begin("10.0.0.1") == 60, "and each wait is longer"
    tries.right("10.0.0.1")
    assert tries.begin("10.0.0.1") == 0
    now[0] = 1000.0
    many = [tries.begin(f"10.1.{k}.1") > 0 for k in range(100)]
    assert sum(not waits for waits in many) == attempts.MOST_A_MINUTE, "all addresses together have a rate"
    assert tries.begin("10.9.9.9") > 0


def test_one_owner_of_many_addresses_is_one():
    tries = Attempts(lambda: 0.0)
    assert [tries.begin(f"2001:db8::{k}") > 0 for k in range(1, 8)] == [False] * 5 + [True] * 2


def test_the_password_page_says_how_long_to_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("foible.ui.pages.login.PAUSE", 0.0)
    app = create_app(Settings(tmp_path, password="open sesame"))
    client = TestClient(app, base_url=HERE, headers={"origin": HERE}, follow_redirects=False)
    codes = [client.post("/login", content="password=guess").status_code for _ in range(8)]
    assert codes == [403] * 5 + [429] * 3
    answer = client.post("/login", content="password=open+sesame")
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) > 20 and "try again in" in answer.text
    app.state.bench.sessions.close()


def test_folders_of_the_server_stay_unsaid(tmp_path):
    discreet = Discretion.about(tmp_path / "runs")
    said = f"model file '{tmp_path}/up loads/x/model.pt' is refused; see {tmp_path}/runs/toy/log.txt."
    assert str(tmp_path) not in discreet(said) and "log.txt" in discreet(said)
    assert discreet("no path at all: 3/4") == "no path at all: 3/4"


def test_a_slow_look_holds_up_nobody_and_ends_when_its_visitor_leaves(tmp_path):
    slow = tmp_path / "slow.py"
    slow.write_text(f"import time\nopen({str(tmp_path / 'began')!r}, 'w')\ntime.sleep(600)\n")
    recipe = load_recipe(toy_recipe(write_toy_images(tmp_path / "toys"), classifier=f"{slow}:Slow"))
    probing = Probing()

    async def visit():
        async def left():
            return (tmp_path / "began").exists()

        return await probing.look(recipe, "Ada", left)

    assert asyncio.run(visit()) is None and not probing._going


def test_a_look_says_what_was_seen(tmp_path):
    recipe = load_recipe(toy_recipe(write_toy_images(tmp_path / "toys")))

    async def stay():
        return False

    seen = asyncio.run(Probing().look(recipe, "Ada", stay))
    assert seen.fine and any(line.about == "accuracy" for line in seen.lines)


@pytest.mark.parametrize("code", ["import os; os._exit(3)", "raise SystemExit(0)", "raise ValueError('\x1b[2J')"])
def test_a_model_that_ends_its_look_is_reported(tmp_path, code):
    (tmp_path / "ends.py").write_text(code + "\n")
    recipe = load_recipe(toy_recipe(write_toy_images(tmp_path / "toys"), classifier=f"{tmp_path / 'ends.py'}:X"))

    async def stay():
        return False

    seen = asyncio.run(Probing().look(recipe, "Ada", stay))
    assert not seen.fine and seen.lines[0].level == "wrong"
