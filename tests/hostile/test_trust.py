"""Runs that came from elsewhere: pictures are checked, models are those of the run, code runs only when trusted."""

import csv
import io
import json
import os
import threading
import zipfile

import pytest
import torch

from foible.campaign.replay import replay
from foible.campaign.trust import NotTrusted, wishes
from foible.errors import ModelError, RecipeError
from foible.files import write_whole
from foible.images import png_bytes
from foible.sandbox.limits import Limits
from foible.store import open_run
from foible.store.cells import cell
from foible.store.layout import inside
from foible.store.seal import seal, sealed
from foible.testing.toys import ToyClassifier
from foible.types import Arm


def rewrite(received, change):
    path = received.folder / "manifest.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))


@pytest.mark.parametrize("which", ["failure", "origin"])
def test_a_damaged_picture_is_named_and_left_out(received, which):
    run = open_run(received.folder)
    found = len(run.index())
    name = run.finding(received.first).image if which == "failure" else run.finding(received.first).origin_image
    (received.folder / name).write_bytes(png_bytes(torch.rand(1, 6, 6)))
    both = found + len(run.index(Arm.BASELINE))
    for option, path, all_of_them in (("--zip", "a.zip", found), ("--tree", "tree", found), ("--parquet", "a.p", both)):
        ended = received.foible("export", received.folder, option, received.out / path)
        assert ended.exit_code == 3 and f"{all_of_them - 1} failures" in ended.output
        assert f"left out: failure {received.first}: image '{name}' has changed" in ended.output
    with zipfile.ZipFile(received.out / "a.zip") as archive:
        assert not any(f"_{received.first:06d}_" in n for n in archive.namelist())
    received.foible("report", received.folder, "--html", received.out / "r.html")
    assert f"image &#39;{name}&#39; has changed" in (received.out / "r.html").read_text()


def test_a_run_made_here_is_replayed_without_a_word(received):
    assert received.foible("replay", received.folder).exit_code == 0


def test_another_digest_is_refused_unless_another_classifier_is_asked_for(received):
    rewrite(received, lambda m: m.update(digests=dict.fromkeys(m["digests"], "0" * 64)))
    seal(received.folder / "manifest.json")
    ended = received.foible("replay", received.folder)
    assert ended.exit_code == 2 and "has changed since the run" in ended.output and "still fail" not in ended.output
    run = open_run(received.folder)
    assert all(r.fails for r in replay(run, classifier=ToyClassifier()))
    with pytest.raises(ModelError, match="digest"):
        list(replay(run))


@pytest.mark.parametrize("verb", ["replay", "resume"])
def test_code_of_a_foreign_run_is_not_run_unasked(received, verb):
    code = received.out / "evil.py"
    code.write_text(
        f"open({str(received.out / 'was-here')!r}, 'w')\nfrom foible.testing.toys import ToyClassifier as Evil\n"
    )
    rewrite(received, lambda m: m["recipe"].update(classifier={"use": f"{code}:Evil"}))
    ended = received.foible(verb, received.folder)
    assert ended.exit_code == 2 and "runs the Python file" in ended.output and "--trust" in ended.output
    assert not (received.out / "was-here").exists()
    received.foible(verb, received.folder, "--trust")
    assert (received.out / "was-here").exists()


def test_the_page_runs_no_code_of_a_foreign_run(received):
    (received.folder / ".manifest.json.seal").unlink()
    answer = received.client.get(f"/runs/{received.folder.name}/findings/{received.first}/path")
    assert answer.status_code == 400 and "not known to have been made here" in answer.text
    (received.folder / "manifest.json").rename(received.folder / "recipe.toml")
    answer = received.client.post(f"/runs/{received.folder.name}/go-on")
    assert answer.status_code == 404 and "not written by this workbench" in answer.text


def test_a_seal_fits_one_file_and_one_user(tmp_path, monkeypatch):
    path = tmp_path / "manifest.json"
    path.write_text("{}")
    assert not sealed(path)
    seal(path)
    assert sealed(path)
    path.write_text("{ }")
    assert not sealed(path)
    seal(path)
    monkeypatch.setenv("FOIBLE_CONFIG", str(tmp_path / "somebody-else"))
    assert not sealed(path)


def test_where_no_key_can_be_kept_nothing_is_sealed(tmp_path, monkeypatch):
    (tmp_path / "config").write_text("a file")
    monkeypatch.setenv("FOIBLE_CONFIG", str(tmp_path / "config"))
    (tmp_path / "manifest.json").write_text("{}")
    seal(tmp_path / "manifest.json")
    assert not sealed(tmp_path / "manifest.json")


def test_what_a_recipe_may_not_do_unasked():
    said = {"classifier": {"use": "x.pt", "untrusted": False, "insist": True, "headers": {"a": "Bearer ${TOKEN}"}}}
    assert len(list(wishes(said))) == 3
    assert list(wishes({"search": "net.py:Search"})) == ["runs the Python file 'net.py:Search'"]
    assert list(wishes({"classifiers": {"rival": {"use": "http://evil.example/"}}}))
    assert not list(wishes({"classifier": {"use": "x.pt", "untrusted": True}, "attempts": 3, "validators": ["judge"]}))
    assert issubclass(NotTrusted, RecipeError)


@pytest.mark.parametrize("name", ["", ".", "..", "/etc/passwd", "a/../../b", "..\\b", "a\0b", "link/b", "x" * 300])
def test_a_stored_name_stays_inside(tmp_path, name):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "link").symlink_to(tmp_path)
    with pytest.raises(Exception, match=r"not the name|leaves the run|not a file|longer than"):
        inside(tmp_path / "run", name)
    assert inside(tmp_path / "run", "images/a.png") == tmp_path / "run" / "images" / "a.png"


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "mine").write_text("mine")
    for name in ("report.html", f"report.html.{os.getpid()}-{threading.get_ident()}.part"):
        (tmp_path / name).symlink_to(tmp_path / "mine")
    write_whole(tmp_path / "report.html", "new")
    assert (tmp_path / "mine").read_text() == "mine" and (tmp_path / "report.html").read_text() == "new"


@pytest.mark.parametrize("value", [-1, 0, float("nan"), float("inf"), 1e300, True, "2", None])
def test_a_limit_is_a_number_that_limits(value):
    with pytest.raises(RecipeError, match="limit memory_gb"):
        Limits(memory_gb=value)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-x", "@a", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text):
    assert cell(text) == f"'{text}" and cell("a=1") == "a=1" and cell(-0.5) == -0.5


def test_class_names_are_no_formulas_in_the_table(received):
    rewrite(received, lambda m: m.update(classes=["=1+1", "+2", "@x"]))
    received.foible("export", received.folder, "--zip", received.out / "a.zip")
    with zipfile.ZipFile(received.out / "a.zip") as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("findings.csv").decode())))
    assert rows and all(row[k].startswith("'") for row in rows for k in ("expected", "predicted"))
