"""Runs of format 1, written by hand, brought up to the format of this release."""

import json
import shutil
import sqlite3

import pytest
from typer.testing import CliRunner

from foible.api import run as run_campaign
from foible.cli.main import app
from foible.errors import StoreError
from foible.report import summarise
from foible.store import open_run
from foible.store.database import to_blob
from foible.testing.toys import toy_recipe, write_toy_images
from foible.types import Arm

SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE outcomes (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, label INTEGER NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL,
  origin_predicted INTEGER NOT NULL, evaluations INTEGER NOT NULL, rounds INTEGER NOT NULL, best_score REAL,
  PRIMARY KEY (arm, attempt));
CREATE TABLE findings (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, label INTEGER NOT NULL, predicted INTEGER NOT NULL,
  evaluations INTEGER NOT NULL, rounds INTEGER NOT NULL, origin_probabilities TEXT NOT NULL, probabilities TEXT NOT NULL,
  latent_distance REAL NOT NULL, pixel_distance REAL NOT NULL, latent_shape TEXT NOT NULL, latent BLOB NOT NULL,
  origin_latent BLOB NOT NULL, image TEXT NOT NULL, origin_image TEXT NOT NULL, image_sha256 TEXT NOT NULL,
  verdicts TEXT NOT NULL, PRIMARY KEY (arm, attempt));
CREATE TABLE checkpoints (
  arm TEXT NOT NULL, attempt INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY (arm, attempt));
"""
ADDED = ("targets", "begins", "origins", "classifiers", "ends", "keeps", "rank", "steers", "steadiness", "wave")


def as_format_1(folder, attempts, stop="confirmed"):
    """What the first release would have left of this run when it was stopped after so many attempts."""
    run = open_run(folder)
    rows = {"facts": [("state", "interrupted"), ("progress", json.dumps({"arm": "search", "lanes": []}))]}
    ended = [o for o in run.outcomes() if o.attempt < attempts]
    rows["outcomes"] = [
        (o.arm, o.attempt, o.label, o.source, o.status, o.origin_predicted, o.evaluations, o.rounds, o.best_score)
        for o in ended
    ]
    rows["findings"] = [
        (f.arm, f.attempt, f.label, f.predicted, f.evaluations, f.rounds, json.dumps(f.origin_probabilities),
         json.dumps(f.probabilities), f.latent_distance, f.pixel_distance, json.dumps(list(f.latent.shape)),
         to_blob(f.latent), to_blob(f.origin_latent), f.image, f.origin_image, f.image_sha256, "[]")
        for f in run.findings() if f.attempt < attempts
    ]  # fmt: skip
    rows["checkpoints"] = [(Arm.SEARCH, attempts, b"in a form of its own")]
    run.database.close()
    (folder / "run.sqlite").unlink()
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.executescript(SCHEMA)
        for table, values in rows.items():
            database.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(values[0]))})", values)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["recipe"] = {k: v for k, v in manifest["recipe"].items() if k not in ADDED} | {"stop": stop}
    del manifest["packing"]
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format": 1}))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("format")
    run_campaign(toy_recipe(write_toy_images(folder / "toys")), folder / "whole")
    return folder / "whole"


@pytest.fixture
def old(whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "old")
    as_format_1(folder, attempts=5)
    return folder


def foible(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_run_of_format_1_opens_reports_replays_and_goes_on(whole, old):
    refused = foible("report", old)
    assert refused.exit_code == 3 and f"foible migrate {old}" in refused.output
    said = foible("migrate", old)
    assert said.exit_code == 0 and "manifest.json.format-1, run.sqlite.format-1" in said.output
    run, complete = open_run(old), {f.key: f for f in open_run(whole).findings()}
    assert run.state == "interrupted" and (run.progress()["column"], run.progress()["goal"]) == ("margin", 0.0)
    found = list(run.findings())
    assert found and all(
        (f.after, f.before, f.image_sha256, f.origin_sha256, f.evaluations, f.number)
        == (g.after, g.before, g.image_sha256, g.origin_sha256, g.evaluations, 0)
        for f in found
        for g in [complete[f.key]]
    )
    assert sum(o.findings for o in run.outcomes()) == len(found) and summarise(run).search.attempts == 5
    assert foible("replay", old, found[0].key, "--trust").exit_code == 0
    assert foible("resume", old, "--trust", "--quiet").exit_code == 0
    again = {f.key: f for f in open_run(old).findings()}
    assert {k: (f.image_sha256, f.evaluations) for k, f in again.items()} == {
        k: (f.image_sha256, f.evaluations) for k, f in complete.items()
    }


def test_what_it_was_is_kept(old):
    database = list(sqlite3.connect(old / "run.sqlite").iterdump())
    manifest = (old / "manifest.json").read_text()
    foible("migrate", old)
    assert list(sqlite3.connect(old / "run.sqlite.format-1").iterdump()) == database
    assert (old / "manifest.json.format-1").read_text() == manifest
    assert "nothing to do" in foible("migrate", old).output


@pytest.mark.parametrize(
    ("stop", "ends", "steers"),
    [("first", "first", False), ("confirmed", "confirmed", False), ("counts", "confirmed", True)],
)
def test_stop_is_what_it_meant(whole, tmp_path, stop, ends, steers):
    folder = shutil.copytree(whole, tmp_path / "old")
    as_format_1(folder, 3, stop)
    assert foible("migrate", folder).exit_code == 0
    recipe = open_run(folder).manifest.recipe
    assert (recipe["ends"], recipe["steers"], recipe["keeps"], recipe["targets"]) == (ends, steers, "best", None)
    assert "stop" not in recipe and open_run(folder).manifest.packing == "full"


def test_an_interrupted_migration_goes_on(old, monkeypatch):
    def broken(*_):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("foible.store.migrate.write_manifest", broken)
        assert foible("migrate", old).exit_code == 3
    assert foible("report", old).exit_code == 3, "not half of each"
    assert foible("migrate", old).exit_code == 0
    assert len(list(open_run(old).outcomes())) == 5
    assert not list(old.glob("*.part*"))


def test_what_is_no_run_is_said_to_be_none(tmp_path):
    assert "is not a run folder" in foible("migrate", tmp_path).output
    (tmp_path / "manifest.json").write_text("{}")
    assert "is damaged" in foible("migrate", tmp_path).output
    (tmp_path / "manifest.json").write_text('{"format": 9}')
    assert "a later release" in foible("migrate", tmp_path).output
