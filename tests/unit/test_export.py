"""Exports: those that count, every class, verdicts and people's answers, filtered like the gallery."""

import csv
import io
import json
import zipfile

import pyarrow.parquet
import pytest

from foible.records import Key, Verdict
from foible.store import open_run
from foible.store.answers import NOTHING, give_answer
from foible.store.export import folder_names, safe, to_json, to_parquet, to_tree, to_zip
from foible.store.selection import EVERYTHING, NOBODY, Wanted, counts, passes
from tests.unit.test_store import RunWriter, manifest, outcome, write_finding  # noqa: F401

YES, NO = Verdict("judge", True, 0.9, "image"), Verdict("judge", False, 0.2, "label")


@pytest.fixture
def run(tmp_path):
    """Three findings: the first counts, the second lost its label, people see nothing in the third."""
    with RunWriter(tmp_path / "run", manifest(classes=("cat", "dog", "bird"))) as writer:
        for attempt in (1, 2, 3):
            write_finding(writer, attempt)
    from foible.store.database import connect

    with connect(tmp_path / "run" / "run.sqlite", write=True) as database:
        for attempt, verdicts in ((1, [YES]), (2, [YES, NO]), (3, [YES])):
            said = json.dumps([vars(v) for v in verdicts])
            database.execute("UPDATE findings SET verdicts = ? WHERE attempt = ?", (said, attempt))
        database.execute("UPDATE outputs SET probabilities = '[0.2, 0.8, 0.0]'")
    opened = open_run(tmp_path / "run")
    give_answer(opened.layout, "=Ada", Key(3), NOTHING)
    return opened


def test_ready_to_train_means_those_that_count_and_a_folder_for_every_class(run, tmp_path):
    written = to_tree(run, tmp_path / "tree")
    assert (written.count, written.unwanted) == (1, 2)
    assert sorted(p.name for p in (tmp_path / "tree").iterdir()) == ["bird", "cat", "classes.txt", "dog"]
    assert [p.parent.name for p in (tmp_path / "tree").rglob("*.png")] == ["cat"]
    assert (tmp_path / "tree" / "classes.txt").read_text() == "cat\ndog\nbird\n"
    assert to_tree(run, tmp_path / "all", EVERYTHING).count == 3


def test_tables_say_what_validators_and_people_say(run, tmp_path):
    to_zip(run, tmp_path / "a.zip")
    to_json(run, tmp_path / "a.json")
    to_parquet(run, tmp_path / "a.parquet")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        cells = list(csv.DictReader(io.StringIO(archive.read("findings.csv").decode())))
    rows, table = json.loads((tmp_path / "a.json").read_text()), pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert [c["counts"] for c in cells] == ["yes", "no", "no"]
    assert [c["label_kept"] for c in cells] == ["unknown", "no", "no"]
    assert [r["counts"] for r in rows] == table["counts"].to_pylist() == [True, False, False]
    assert rows[1]["verdicts"] == table["verdicts"][1].as_py() == json.loads(cells[1]["verdicts"])
    assert rows[2]["people"] == table["people"][2].as_py() == [{"person": "=Ada", "sees": "nothing recognisable"}]
    assert json.loads(cells[2]["people"])[0]["sees"] == "nothing recognisable"


@pytest.mark.parametrize(
    ("wanted", "attempts"),
    [
        (Wanted(counts="yes"), {1}),
        (Wanted(counts="no"), {2, 3}),
        (Wanted(label=0, predicted=1), {1, 2, 3}),
        (Wanted(label=2), set()),
        (Wanted(least=41), set()),
        (Wanted(most=40, kept="unknown"), {1}),
        (Wanted(valid="no"), {3}),
    ],
)
def test_every_export_can_be_filtered(run, tmp_path, wanted, attempts):
    to_json(run, tmp_path / "a.json", wanted)
    assert {row["attempt"] for row in json.loads((tmp_path / "a.json").read_text())} == attempts
    assert to_zip(run, tmp_path / "a.zip", wanted).count == to_tree(run, tmp_path / "t", wanted).count == len(attempts)


def test_where_nobody_was_asked_every_failure_counts(run):
    line = run.index()[0]
    unjudged = type(line)(**{**vars(line), "verdicts": ()})
    assert counts(unjudged, NOBODY) and passes(unjudged, Wanted(counts="yes"), NOBODY)


def test_no_two_classes_share_a_folder():
    assert folder_names(["a/b", "a b", "猫", "犬", "..", ""]) == ["a-b", "a-b-1", "猫", "犬", "unnamed", "unnamed-5"]
    assert safe("../../etc") == "etc" and len(safe("x" * 500)) == 80
