"""`foible benchmark` as a user runs it."""

import pytest
import tomli_w

from foible.benchmark.progress import Standing
from foible.cli.benchmark import how_far
from foible.testing.toys import toy_recipe
from tests.journeys.conftest import foible


def matrix_file(tmp_path, toy_images, **more):
    shared = toy_recipe(toy_images, attempts=4, budget={"evaluations": 60}, baseline={"attempts": 0})
    shared.pop("name")
    axes = [{"near": {"search": {"extent": 0.01}}, "far": {"search": {"extent": 0.05}}, **more}]
    path = tmp_path / "bars.toml"
    path.write_text(tomli_w.dumps({"shared": shared, "axes": axes}))
    return path


def test_run_list_and_only(tmp_path, toy_images):
    path, out = matrix_file(tmp_path, toy_images), tmp_path / "out"
    listed = foible("benchmark", path, "--list")
    assert listed.returncode == 0 and "bars-near  at most 240 evaluations" in listed.stdout and not out.exists()
    part = foible("benchmark", path, "--out", out, "--only", "far", "-q")
    assert part.returncode == 0 and part.stdout == "" and not (out / "bars-near").exists()
    looked = foible("benchmark", path, "--out", out, "--tables")
    assert looked.returncode == 0 and "benchmark.html" in looked.stdout and not (out / "bars-near").exists()
    assert "| bars-near | not run |" in (out / "tables" / "results.md").read_text()
    whole = foible("benchmark", path, "--out", out)
    assert whole.returncode == 0 and "2 of 2 cells complete" in whole.stdout
    assert "bars: 1/2 cells, bars-near 0 %, 0 found" in whole.stderr
    assert "| bars-near | complete |" in (out / "tables" / "results.md").read_text()


@pytest.mark.parametrize(
    ("seconds", "left"),
    [(None, ""), (42.4, ", about 42 s left"), (130, ", about 2 min left"), (3 * 3600, ", about 3 h left")],
)
def test_one_line_says_how_far_and_how_long(seconds, left):
    assert how_far("gift", Standing(3, 12, "gift-a-low", 0.4, 2, seconds)) == (
        f"gift: 3/12 cells, gift-a-low 40 %, 2 found{left}"
    )


def test_benchmarks_are_listed():
    listed = foible("ls", "benchmarks")
    assert listed.returncode == 0 and "Searches on MNIST" in listed.stdout and "54 cells" in listed.stdout
    part = foible("benchmark", "gift", "--only", "mnist-*", "--only", "low", "--list")
    assert part.stdout.count("at most") == 3 and "gift-mnist-vae-low" in part.stdout


def test_a_failing_cell_is_told_and_a_wrong_matrix_refused(tmp_path, toy_images):
    path = matrix_file(tmp_path, toy_images, lost={"generator": "nowhere.safetensors"})
    done = foible("benchmark", path, "--out", tmp_path / "out")
    assert done.returncode == 3 and "2 of 3 cells complete" in done.stdout
    assert "bars-lost: " in done.stderr and "nowhere.safetensors" in done.stderr
    path = matrix_file(tmp_path, toy_images, wrong={"atempts": 3})
    done = foible("benchmark", path)
    assert done.returncode == 2 and "cell 'bars-wrong'" in done.stderr and "did you mean 'attempts'" in done.stderr
