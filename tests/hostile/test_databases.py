"""Databases and manifests that are damaged or meant to do harm: nothing escapes, nothing ends with a traceback."""

import json
import os
import sqlite3

import pytest

from foible.store import open_run

F, OUT, P = "UPDATE findings SET ", "UPDATE outcomes SET ", "UPDATE outputs SET "


def verdict(old="", new=""):
    facts = '{"validator": "v", "accepted": true, "score": 0.5, "about": "image", "threshold": 0.5}'
    return f"{F}verdicts = '[{facts.replace(old, new, 1)}]'"


CHANGES = {
    "image above the run": F + "image = '../../secret.txt'",
    "image far above": F + "image = '../../../../../../../../etc/passwd'",
    "origin above the run": F + "origin_image = '../../secret.txt'",
    "absolute image": F + "image = '/etc/passwd'",
    "absolute origin": F + "origin_image = '/etc/passwd'",
    "image with dots inside": F + "image = 'images/../../../secret.txt'",
    "image with backslashes": F + "image = '..\\..\\secret.txt'",
    "image is the folder": F + "image = 'images'",
    "image is nothing": F + "image = ''",
    "image is a dot": F + "image = '.'",
    "image is the database": F + "image = 'run.sqlite'",
    "image with a zero": F + "image = 'images/a' || char(0) || 'b'",
    "image with escape codes": F + "image = char(27) || ']0;owned' || char(7) || char(27) || '[2J'",
    "image is a number": F + "image = 7",
    "image is a blob": F + "image = x'00ff'",
    "image is long": F + "image = replace(hex(zeroblob(3000)), '0', 'a')",
    "digest of another": F + "image_sha256 = '00'",
    "digest of no origin": F + "origin_sha256 = 'nonsense'",
    "label beyond the classes": F + "label = 99",
    "label below zero": F + "label = -1",
    "label is text": F + "label = 'x'",
    "prediction beyond the classes": F + "predicted = 3",
    "probabilities are no list": P + "probabilities = '{}'",
    "probabilities are broken": P + "probabilities = '[0.1, '",
    "too few probabilities": P + "probabilities = '[1.0]'",
    "probabilities are text": P + "probabilities = '[\"a\", \"b\", \"c\"]'",
    "probabilities without end": P + "probabilities = '[NaN, Infinity, 1]'",
    "nested probabilities": P + "probabilities = replace(hex(zeroblob(5000)), '0', '[')",
    "latent of another size": F + "latent = x'00'",
    "latent shape is odd": F + "latent_shape = '[1000000000000]'",
    "latent shape below zero": F + "latent_shape = '[-1, -1]'",
    "latent shape is text": F + "latent_shape = 'null'",
    "distance is text": F + "latent_distance = 'far'",
    "distance without end": F + "pixel_distance = 9e999",
    "cost is text": F + "evaluations = 'many'",
    "cost below zero": F + "evaluations = -5",
    "verdicts are broken": F + "verdicts = 'x'",
    "verdicts are numbers": F + "verdicts = '[1, 2]'",
    "verdict with more keys": verdict("{", '{"more": 1, '),
    "verdict score is text": verdict("0.5", '"x"'),
    "verdict about nothing": verdict("image", "moon"),
    "verdict by a script": verdict('"v"', '"<script>alert(1)</script>"'),
    "attempt beyond counting": "UPDATE findings SET attempt = 9.9e18 WHERE rowid = 1",
    "attempt is text": F + "attempt = 'x' || attempt",
    "another arm": F + "arm = 'moon' || attempt || arm",
    "status unknown": OUT + "status = 'moon'",
    "outcome of no class": OUT + "label = 12",
    "outcome score is text": OUT + "best_score = 'low'",
    "progress is broken": "INSERT OR REPLACE INTO facts VALUES ('progress', '{')",
    "progress is a number": "INSERT OR REPLACE INTO facts VALUES ('progress', '3')",
    "progress lacks all": "INSERT OR REPLACE INTO facts VALUES ('progress', '{\"arm\": \"search\"}')",
    "state with escape codes": "INSERT OR REPLACE INTO facts VALUES ('state', char(27) || '[31mfine')",
    "no findings table": "DROP TABLE findings",
    "no outcomes table": "DROP TABLE outcomes",
    "findings are a view": ("ALTER TABLE findings RENAME TO f2", "CREATE VIEW findings AS SELECT * FROM f2 UNION SELECT * FROM f2"),
    "a view that reads files": ("ALTER TABLE facts RENAME TO f3", "CREATE VIEW facts AS SELECT 'state' AS name, readfile('/etc/passwd') AS value"),
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON outcomes BEGIN DELETE FROM findings; END",
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_odd_databases(received, change):
    received.sql(*([change] if isinstance(change, str) else change))
    received.all_verbs()
    received.all_pages()


def recipe(**changes):
    return lambda m: m["recipe"].update(changes)


MANIFESTS = {
    "not JSON": "{",
    "empty": "",
    "a list": "[]",
    "nested": "[" * 100_000,
    "no classes": lambda m: m.update(classes=[]),
    "fewer classes": lambda m: m.update(classes=["a"]),
    "classes with escape codes": lambda m: m.update(classes=["\x1b[2J\x1b]0;x\x07", "=cmd|' /C calc'!A0", "../../x"]),
    "classes are scripts": lambda m: m.update(classes=["<script>1</script>", "' onerror=x", '"><b>']),
    "huge shape": lambda m: m.update(shape=[3, 10**9, 10**9]),
    "negative shape": lambda m: m.update(shape=[1, -6, 6]),
    "another shape": lambda m: m.update(shape=[3, 5, 5]),
    "chunk of nothing": lambda m: m.update(chunk=0),
    "name with slashes": recipe(name="../../../tmp/evil"),
    "name is a number": recipe(name=7),
    "no recipe": lambda m: m.update(recipe={}),
    "search is a list": recipe(search=[1]),
    "attempts are text": recipe(attempts="many"),
    "attempts are none": recipe(attempts=0),
    "budget is missing": recipe(budget=None),
    "validators are text": recipe(validators=["judge"]),
    "title with escape codes": recipe(title="\x1b]8;;http://evil.example\x07click\x1b]8;;\x07"),
    "domain of this machine": recipe(domain="/etc"),
    "data of this machine": recipe(data="/etc/passwd"),
    "unknown key": recipe(moon=1),
    "later format": lambda m: m.update(format=99),
    "digests are numbers": lambda m: m.update(digests={"a": 1}),
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=MANIFESTS)
def test_odd_manifests(received, change):
    path = received.folder / "manifest.json"
    if callable(change):
        facts = json.loads(path.read_text())
        change(facts)
        change = json.dumps(facts)
    path.write_text(change)
    received.all_verbs()
    received.foible("resume", received.folder)
    received.all_pages()


def link_image(received):
    picture = next((received.folder / "images").glob("*-failure.png"))
    picture.unlink()
    picture.symlink_to(received.out.parent / "secret.txt")


def link_file(name, target="secret.txt"):
    def spoil(received):
        path = received.folder / name
        path.rename(received.out.parent / f"moved-{name}") if path.exists() else None
        path.symlink_to(received.out.parent / target)

    return spoil


def fifo(received):
    picture = next((received.folder / "images").glob("*-failure.png"))
    picture.unlink()
    os.mkfifo(picture)


def bomb(received):
    picture = next((received.folder / "images").glob("*-failure.png"))
    with picture.open("wb") as opened:
        opened.truncate(1 << 33)


def garbage(name):
    return lambda received: (received.folder / name).write_bytes(b"\x00\xff" * 5000)


FOLDERS = {
    "a picture is a link out": link_image,
    "all pictures are a link out": link_file("images", "moved-images"),
    "the log is a link out": link_file("log.txt"),
    "the report is a link out": link_file("report.html"),
    "the answers are a link out": link_file("answers.sqlite"),
    "the manifest is a link out": link_file("manifest.json", "moved-manifest.json"),
    "a picture is a pipe": fifo,
    "a picture of 8 GB": bomb,
    "the database is garbage": garbage("run.sqlite"),
    "the answers are garbage": garbage("answers.sqlite"),
    "the job is garbage": garbage("job.json"),
    "surveys are a file": garbage("surveys"),
    "the database is cut": lambda r: os.truncate(r.folder / "run.sqlite", 5000),
}


@pytest.mark.parametrize("spoil", FOLDERS.values(), ids=FOLDERS)
def test_odd_folders(received, spoil):
    spoil(received)
    received.all_verbs()
    received.all_pages()
    assert (received.out.parent / "secret.txt").read_bytes().startswith(b"root:x:0:0"), (
        "nothing was written through a link"
    )


def test_a_sound_run_passes_all_of_it(received):
    assert received.all_verbs()[:4] == [0, 0, 0, 0]
    received.all_pages()


def test_a_damaged_row_is_dropped_by_repair_and_searched_again(received):
    received.sql(("UPDATE findings SET label = 99 WHERE attempt = ?", (received.first,)))
    assert received.foible("report", received.folder).exit_code == 3
    repaired = received.foible("resume", received.folder, "--repair", "--quiet")
    assert repaired.exit_code == 0 and f"failure {received.first}" in repaired.output
    assert received.foible("report", received.folder).exit_code == 0
    with sqlite3.connect(received.folder / "run.sqlite") as database:
        assert database.execute("SELECT count(*) FROM findings WHERE label = 99").fetchone()[0] == 0
    assert open_run(received.folder).state == "complete"
