"""Tables of runs written by hand, in every format."""

import csv
import io

import pytest

from foible.benchmark import Cell, Matrix, write_tables
from foible.benchmark.formats import as_csv, latex, markdown, text
from foible.benchmark.tables import Mean, Table, generators_table, results, results_table
from foible.benchmark.weaknesses import weaknesses_table
from foible.campaign import load_recipe
from foible.metrics import rate
from foible.records import Key
from foible.store.answers import NOTHING, Answer, add_answers
from foible.testing.runs import BUDGET, Story, write_run

MANY = [Story(True, 10, True)] * 12 + [Story(True, 20, False)] * 3 + [Story(False, BUDGET)] * 4 + [Story(False, None)]
FEW = [Story(True, 50, True)] * 2 + [Story(False, BUDGET)] * 17 + [Story(False, None)]


@pytest.fixture
def written(tmp_path):
    """A matrix of three cells, of which two share origins, one has another generator and a fourth never ran."""
    runs = {"m-a-one": MANY, "m-a-two": FEW, "m-b-one": FEW, "m-b-two": None}
    cells = []
    for name, stories in runs.items():
        parts = tuple(name.split("-")[1:])
        recipe = load_recipe(
            {"name": name, "domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-deepconv"}
        )
        cells.append(Cell(name, parts, parts, recipe))
        if stories:
            generator = {"use": "generator" if parts[0] == "a" else "other"}
            write_run(tmp_path / name, stories, generator=generator, search={"use": parts[1]}, name=name)
    return Matrix("m", "A <matrix>", tuple(cells)), tmp_path


def test_results_have_denominators_and_intervals(written):
    table = results_table(results(*written))
    assert len(table.rows) == 4 and all(len(row) == len(table.headings) for row in table.rows)
    first = dict(zip(table.headings, table.rows[0], strict=True))
    assert first["accepted starting images"] == rate(19, 20) and first["confirmed failures"] == rate(15, 19)
    assert first["valid"] == rate(15, 15) and first["label kept, of valid"] == rate(12, 15)
    assert first["failures that count"] == rate(12, 19)
    assert first["evaluations, median"] == 10 and table.rows[1][5] == f"> {BUDGET}"
    assert table.rows[3][1] == "not run" and set(table.rows[3][2:]) == {None}


def test_people_have_columns_of_their_own(written):
    matrix, folder = written
    run = results(matrix, folder)[0].run
    add_answers(run.layout, [Answer(Key(0), "Ada", 0, "2026-01-01"), Answer(Key(1), "Ada", NOTHING, "2026-01-01")])
    table = results_table(results(matrix, folder))
    first = dict(zip(table.headings, table.rows[0], strict=True))
    assert first["valid, by people"] == rate(1, 2) and first["valid"] == rate(15, 15)
    assert all(len(row) == len(table.headings) for row in table.rows)


def test_generators_come_from_their_cards(written):
    table = generators_table(written[0])
    assert table.rows[0][:3] == ("mnist", "mnist-vae", 400)
    assert len(table.rows) == 1 and table.rows[0][4] > 0 and table.rows[0][5] > 0


def test_weaknesses_name_class_and_confusions(written):
    table = weaknesses_table(results(*written))
    assert table.rows[0][1:] == (
        "ship", rate(3, 4), rate(3, 4), "cat for dog (4), dog for frog (4), frog for ship (4)",
    )  # fmt: skip
    assert table.rows[3][1:] == (None, None, None, None)


def test_the_weakest_class_is_that_whose_failures_count(tmp_path):
    """All fail: which of them count tells the classes apart, and of equals the cost does."""
    recipe = load_recipe({"name": "x", "domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-deepconv"})
    cells = tuple(Cell(name, (name,), (name,), recipe) for name in ("judged", "equal"))
    write_run(tmp_path / "judged", [Story(True, 10, False), Story(True, 90, True), Story(True, 5, False)])
    write_run(tmp_path / "equal", [Story(True, 10, True), Story(True, 90, True), Story(True, 5, True)])
    judged, equal = weaknesses_table(results(Matrix("m", "M", cells), tmp_path)).rows
    assert judged[1:4] == ("dog", rate(1, 1), rate(1, 1)) and equal[1] == "frog"


def test_values_as_text():
    assert text(rate(45, 97)) == "45 of 97, 46.4 % (36.8–56.3 %)"
    assert text(Mean(12.5, 10.0, 15.0)) == "12.5 (10–15)" and text(Mean(3.0)) == "3"
    assert (text(None), text(0.2275), text(16384), text("> 100")) == ("n/a", "0.228", "16,384", "> 100")


def test_formats_escape_what_is_special():
    table = Table("t", "T", ("a_b", "share"), (("x|y & z", rate(1, 2)), ("50 %", None)), "a note")
    assert "| x\\|y & z | 1 of 2, 50.0 %" in markdown(table) and "| 50 % | n/a |" in markdown(table)
    tex = latex(table)
    assert r"a\_b & share \\" in tex and r"x|y \& z & 1 of 2, 50.0 \% (" in tex and r"50 \% & n/a \\" in tex
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert rows[0]["share count"] == "1" and float(rows[0]["share share"]) == 0.5 and rows[1]["share count"] == ""
    assert set(rows[0]) == {"a_b", "share count", "share total", "share share", "share low", "share high"}


def test_everything_is_written_and_compared(written):
    matrix, folder = written
    page = write_tables(matrix, folder, {"m-b-two": "its <weights> are missing"}).read_text()
    assert {p.name for p in (folder / "tables").iterdir()} == {
        *(f"{t}.{end}" for t in ("generators", "results", "weaknesses") for end in ("md", "tex", "csv")),
        "comparisons.md",
    }
    said = (folder / "tables" / "comparisons.md").read_text()
    assert "m-a-one finds more failures that count than m-a-two: 12 against 2 of 19 starting images" in said
    assert (
        "m-a-one gives more confirmed failures than m-b-one: 15 of 19 against 2 of 19 starting images, p < 0.001"
        in said
    )
    assert "m-a-two gives" not in said and "between m-a-two and m-b" not in said, "these differ in their search too"
    assert "A &lt;matrix&gt;" in page and "its &lt;weights&gt; are missing" in page and "<script" not in page
    assert "15 of 19, 78.9 %<small>(56.7–91.5 %)</small>" in page


def test_other_generators_are_compared_without_pairs(tmp_path):
    recipe = load_recipe({"name": "x", "domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-deepconv"})
    cells = tuple(Cell(f"m-{n}", (n,), (n,), recipe) for n in ("vae", "gan"))
    for cell, stories in zip(cells, (MANY, FEW), strict=True):
        write_run(tmp_path / cell.name, stories, generator={"use": cell.parts[0]}, name=cell.name)
    write_tables(Matrix("m", "M", cells), tmp_path)
    said = (tmp_path / "tables" / "comparisons.md").read_text()
    assert "m-vae gives more confirmed failures than m-gan: 15 of 19 against 2 of 19 starting images, p < 0.001" in said
    assert "their costs differ (p < 0.001)" in said and "On the same starting images" not in said
