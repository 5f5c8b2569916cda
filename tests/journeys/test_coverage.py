"""`foible coverage` as a user types it."""

import csv
import json

import numpy as np
import pytest
from PIL import Image

from .conftest import foible

MODEL = ("coverage", "mnist-lenet1", "--domain", "mnist", "--data", "sample")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coverage")
    done = foible(*MODEL, "--prioritise", "--set", "kmnc.k=10", "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_it_says_what_coverage_is_not_and_what_stands_beside_it(measured):
    folder, done = measured
    figures = json.loads((folder / "coverage.json").read_text())
    for text in (done.stdout, (folder / "coverage.html").read_text(), figures["meaning"]):
        assert "not evidence of correctness or robustness" in " ".join(text.split())
    assert "accuracy" in done.stdout and "uncertainty" in done.stdout and "control" in done.stdout
    assert "26 units of 3 layers, a channel is a unit, before the activation function" in done.stdout


def test_figures_of_the_suite_and_of_the_control(measured):
    figures = json.loads((measured[0] / "coverage.json").read_text())
    suite, control = figures["suites"]
    assert suite["inputs"] == control["inputs"] == 333 and figures["profiled"] == 334
    names = [c["name"] for c in suite["criteria"]]
    assert {"nc", "kmnc", "tknp", "vv", "dsa", "nlc"} <= set(names)
    sections = suite["criteria"][names.index("kmnc")]
    assert sections["settings"]["k"] == 10 and sections["covered"] + sections["open"] == 260
    assert sections["value"] == pytest.approx(sections["covered"] / 260) and len(sections["per_layer"]) == 3
    assert 0.9 < suite["accuracy"]["share"] < 1


def test_the_page_maps_every_unit_and_fetches_nothing(measured):
    page = (measured[0] / "coverage.html").read_text()
    assert page.count('of its range"></i>') + page.count('never varied in the profile"></i>') == 26
    assert "http://" not in page and "https://" not in page


def test_orders_hold_every_image_once(measured):
    folder, done = measured
    rows = list(csv.DictReader((folder / "orders.csv").open()))
    assert len(rows) == 333
    for order in ("deepgini", "kmnc total", "kmnc added", "dsa total"):
        assert len({row[order] for row in rows}) == 333
    assert "APFD" in done.stdout


def test_the_profile_is_used_again_but_not_for_another_model(measured, tmp_path):
    folder, _ = measured
    again = foible(*MODEL, "--profile", folder / "profile.safetensors", "--criteria", "nc", "--out", tmp_path)
    assert again.returncode == 0, again.stderr
    before, after = (json.loads((f / "coverage.json").read_text()) for f in (folder, tmp_path))
    assert before["suites"][0]["criteria"][0] == after["suites"][0]["criteria"][0]
    other = foible(
        "coverage", "mnist-lenet4", *MODEL[2:], "--profile", folder / "profile.safetensors", "--out", tmp_path
    )
    assert other.returncode == 2 and "another model" in other.stderr and "hint:" in other.stderr


def test_two_suites_on_one_model(measured, tmp_path):
    for name, brightness in (("dark", 40), ("light", 250)):
        for k in range(3):
            (tmp_path / name / "7").mkdir(parents=True, exist_ok=True)
            pixels = np.zeros((28, 28), np.uint8)
            pixels[5:23, 10 + k : 13 + k] = brightness
            Image.fromarray(pixels).save(tmp_path / name / "7" / f"{k}.png")
    done = foible(
        *MODEL, "--images", tmp_path / "dark", "--against", tmp_path / "light", "--criteria", "nc,nbc,nlc",
        "--profile", measured[0] / "profile.safetensors", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "out" / "coverage.json").read_text())
    assert [s["name"] for s in figures["suites"]] == ["dark", "light", "control"]
    assert [d["name"] for d in figures["differences"]] == ["nc", "nbc"]
    first = figures["suites"][0]["criteria"][0]
    assert figures["differences"][0]["both"] + figures["differences"][0]["first"] == first["covered"]
    assert "Two suites on one model" in (tmp_path / "out" / "coverage.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--criteria", "kmcn"), "no coverage is called 'kmcn'"),
        (("--set", "kmnc.k=0"), "k must be at least 1"),
        (("--set", "kmnc.q=3"), "no parameter 'q'"),
        (("--set", "k=3"), "names no criterion"),
        (("--set", "lsa.buckets=5"), "'lsa' has settings and is not measured"),
        (("--criteria", ","), "no criterion is named"),
        (("--set", "kmnc.k=100000000"), "MB"),
        (("--layers", "features.9"), "no layer 'features.9'"),
        (("--trace", "features.1"), "no layer 'features.1' is measured"),
        (("--where", "after"), "--where is 'after'"),
        (("--images", "nowhere"), "no images at 'nowhere'"),
        (("--profile", "nowhere"), "no profile 'nowhere'"),
    ],
)
def test_mistakes_are_named(tmp_path, options, message):
    done = foible(*MODEL, "--profile-count", 50, "--criteria", "kmnc,nc", *options, "--out", tmp_path, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_a_model_that_shows_no_activations_is_named(tmp_path):
    (tmp_path / "blind.py").write_text(
        "class Blind:\n    name, classes, offers = 'Blind', tuple('0123456789'), frozenset()\n\n"
        "    def __call__(self, images):\n        return images.flatten(1)[:, 300:310]\n"
    )
    done = foible("coverage", tmp_path / "blind.py:Blind", *MODEL[2:], "--criteria", "nc", "--out", tmp_path)
    assert done.returncode == 2 and "'Blind' lends no activations" in done.stderr and "hint:" in done.stderr


def test_criteria_can_be_listed():
    listed = foible("ls", "coverage").stdout
    assert "kmnc" in listed and "nlc-greedy" in listed
