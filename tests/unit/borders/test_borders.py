"""Escape matrices and ambiguous sets, over runs of the toy models."""

import csv
import json

import pytest
from typer.testing import CliRunner

import foible
from foible.borders.ambiguous import all_pairs, between, class_pair, diverse
from foible.borders.confusion import confusion, stored_confusion
from foible.borders.escapes import escapes, usual_distance
from foible.borders.pages import as_facts, as_page, as_text
from foible.cli.main import app
from foible.errors import RecipeError
from foible.testing import toys
from foible.testing.toys import CLASSES, toy_recipe, write_toy_images

TOYS = toys.__file__


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("borders")
    facts = toy_recipe(write_toy_images(folder / "toys"), attempts=24, baseline={"attempts": 0}, validators=[])
    facts |= {"search": {"use": "shrink"}, "oracle": "targeted", "targets": list(CLASSES), "seed": 3}
    return foible.run(facts, folder / "run")


def test_every_ordered_pair_is_a_cell_and_counts_its_own_origins(run):
    matrix = escapes(run)
    assert set(matrix.cells) == {(a, b) for a in range(3) for b in range(3) if a != b}
    findings = list(run.findings())
    for (label, target), cell in matrix.cells.items():
        mine = [f for f in findings if (f.label, f.target) == (label, target)]
        assert (cell.escaped.count, cell.escaped.total) == (len(mine), 4)
        assert cell.escaped.low <= cell.escaped.share <= cell.escaped.high
        nearest = min(mine, key=lambda f: f.measures["l1"])
        assert cell.example == nearest.image


def test_less_effort_gives_fewer_escapes_and_none_is_no_error(run):
    distances = sorted(f.measures["l1"] for f in run.findings())
    middle = distances[len(distances) // 2]
    some = escapes(run, within=middle)
    assert sum(c.escaped.count for c in some.cells.values()) == sum(d <= middle for d in distances)
    none = escapes(run, within=1e-9)
    assert all(c.escaped.count == 0 and c.distance is None for c in none.cells.values())
    assert "within 1e-09 (L1)" in as_text(none) and "<img" not in as_page(none, run)


def test_about_half_of_the_escapes_are_near_ones(run):
    whole, near = escapes(run), escapes(run, within=usual_distance(run))
    counts = [sum(cell.escaped.count for cell in matrix.cells.values()) for matrix in (whole, near)]
    assert counts[0] // 2 <= counts[1] <= counts[0] // 2 + 1


def test_the_matrix_as_text_facts_and_page(run):
    matrix = escapes(run)
    assert "left to right: 4 of 4" in as_text(matrix)
    assert len(as_facts(matrix)["cells"]) == 6
    assert as_page(matrix, run).count("<img") == 6


def test_the_verb_writes_page_and_facts(run, tmp_path):
    page, facts = tmp_path / "e.html", tmp_path / "e.json"
    said = CliRunner().invoke(app, ["escapes", str(run.layout.folder), "--html", str(page), "--json", str(facts)])
    assert said.exit_code == 0 and "left to right" in said.output, said.output
    assert page.read_text().startswith("<!doctype html>") and len(json.loads(facts.read_text())["cells"]) == 6
    assert "confusions on 12 images" in said.output and "On real images" in page.read_text()
    assert json.loads(facts.read_text())["confusion"]["counts"] == [[4, 0, 0], [0, 4, 0], [0, 0, 4]]


def test_the_confusion_matrix_is_counted_once_and_kept(run, monkeypatch):
    counted = confusion(run)
    monkeypatch.setattr("foible.borders.confusion.reassembled", None)
    assert confusion(run) == counted and counted.share(0, 0) == 1.0 and counted.total == 12
    (run.layout.folder / "confusion.json").write_text('{"source": "x", "counts": [[1]]}')
    assert stored_confusion(run) is None, "not of these classes"


def test_a_run_that_aims_at_nothing_and_limits_without_sense_are_refused(run, tmp_path):
    images = write_toy_images(tmp_path / "toys")
    plain = foible.run(toy_recipe(images, attempts=2, baseline={"attempts": 0}, validators=[]), tmp_path / "run")
    with pytest.raises(RecipeError, match="aims at no class"):
        escapes(plain)
    with pytest.raises(RecipeError, match="within"):
        escapes(run, within=0)


def test_images_between_two_classes_are_of_that_pair_and_differ(run):
    found = between(run, (0, 2), 0.05)
    assert found and all({f.label, f.target} == {0, 2} and f.measures["gap"] <= 0.05 for f in found)
    chosen = diverse(run, [found[0], *found], 99)
    assert chosen[0] == found[0] and len({f.image_sha256 for f in chosen}) == len(chosen) <= len(found)
    assert between(run, (0, 2), 0.0) == [f for f in found if f.measures["gap"] == 0]


def test_pairs_by_name():
    assert class_pair(("left", "right"), CLASSES) == (0, 2)
    assert all_pairs(CLASSES) == [(0, 1), (0, 2), (1, 2)]
    with pytest.raises(RecipeError, match="'rigth'") as error:
        class_pair(("left", "rigth"), CLASSES)
    assert "'right'" in error.value.hint
    with pytest.raises(RecipeError, match="two different classes"):
        class_pair(("left", "left"), CLASSES)


def ambiguous(folder, *options):
    images = write_toy_images(folder / "toys")
    models = ["--generator", f"{TOYS}:ToyEncoder", "--classifier", f"{TOYS}:ToyClassifier"]
    command = ["ambiguous", "--domain", str(images), "--out", str(folder / "set"), "-q", *models, *options]
    return CliRunner().invoke(app, command)


def test_the_verb_writes_pictures_and_a_table(tmp_path):
    said = ambiguous(tmp_path, "--pair", "left", "right", "--count", "3")
    assert said.exit_code == 0, said.output
    rows = list(csv.DictReader((tmp_path / "set" / "table.csv").open()))
    assert len(rows) == 3 and all((tmp_path / "set" / row["file"]).is_file() for row in rows)
    assert all(float(row["gap"]) <= 0.05 for row in rows)


def test_all_pairs_and_too_few(tmp_path):
    said = ambiguous(tmp_path, "--count", "2", "--max-gap", "0.0000001", "--effort", "1")
    assert said.exit_code == 3 and "fewer than 2" in said.output, said.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pair", "left", "rigth"], "no class 'rigth'"),
        (["--pair", "left", "left"], "two different classes"),
        (["--pair", "left", "right", "--max-gap", "0"], "--max-gap"),
        (["--pair", "left", "right", "--generator", "TOYS:ToyGenerator"], "no encoder"),
        (["--pair", "left", "right", "--generator", ""], "has no generator of its own"),
    ],
)
def test_bad_input_is_named(options, words, tmp_path):
    said = ambiguous(tmp_path, *(o.replace("TOYS", TOYS) for o in options))
    assert said.exit_code == 2 and words in said.output, said.output


def narrowed(folder, **changes):
    facts = toy_recipe(write_toy_images(folder / "toys"), baseline={"attempts": 0}, validators=[], steadiness=False)
    facts |= {"search": {"use": "shrink", "gradients": True, "halvings": 1, "batch": 2}, "oracle": "targeted"}
    return facts | changes


def test_a_pair_that_is_known_well_enough_gets_no_more_attempts(tmp_path):
    """All escape: 10 of 10 have an interval 28 points wide, and 15 of 15 one of 20, so that 0.25 needs three waves."""
    facts = narrowed(tmp_path, attempts=25, classes=["left"], targets=["right"], narrow={"width": 0.25})
    matrix = escapes(foible.run(facts, tmp_path / "run"))
    assert {pair: cell.escaped.total for pair, cell in matrix.cells.items()} == {(0, 2): 15}
    none = foible.run(facts | {"narrow": {"width": 0.25, "within": 1e-6}}, tmp_path / "near")
    assert escapes(none).cells[0, 2].escaped.total == 15, "0 of 15 is as narrow as 15 of 15"


def test_the_attempts_of_a_narrowed_run_do_not_depend_on_interruptions(tmp_path):
    facts = narrowed(tmp_path, attempts=60, targets=list(CLASSES), narrow={"width": 0.5})
    whole = foible.run(facts, tmp_path / "whole")
    stopped = foible.run(facts, tmp_path / "pieces", **{"budget.seconds": 1e-6})
    assert stopped.state == "out of time"
    pieces = foible.run(facts, tmp_path / "pieces", **{"engine.lanes": 9})
    ends = [(o.attempt, o.status) for o in whole.outcomes()]
    assert [(o.attempt, o.status) for o in pieces.outcomes()] == ends and len(ends) == 30


def test_a_class_that_is_not_there_is_no_target(tmp_path):
    with pytest.raises(RecipeError, match="no class 'rigth'") as error:
        foible.run(narrowed(tmp_path, targets=["left", "rigth"]), tmp_path / "run")
    assert "'right'" in error.value.hint


def test_narrow_without_targets_is_refused(tmp_path):
    facts = toy_recipe(write_toy_images(tmp_path / "toys"), baseline={"attempts": 0}, validators=[], narrow={})
    with pytest.raises(RecipeError, match="classes to aim at"):
        foible.run(facts, tmp_path / "run")
