"""The zoo as a user meets it: tables and cards, weights that are not there, a zoo of one's own."""

import json
import shutil
import tomllib

import pytest
from PIL import Image

from foible.campaign import load_recipe
from foible.domains import load_domain
from foible.errors import ModelError
from foible.testing.toys import write_toy_images
from foible.training.teacher import known_teacher
from foible.zoo import cards, entries, entry, own_zoo
from foible.zoo.catalogue import WEIGHTS

from .conftest import foible


@pytest.fixture
def lean(tmp_path, monkeypatch):
    """An installation as from a wheel that left everything out but the cards."""
    folder = tmp_path / "installed"
    folder.mkdir()
    for card in WEIGHTS.glob("*.toml"):
        shutil.copy(card, folder)
    monkeypatch.setattr("foible.zoo.catalogue.WEIGHTS", folder)
    return folder


def test_the_table_in_three_forms():
    text, markdown = foible("zoo", "table").stdout, foible("zoo", "table", "--markdown").stdout
    rows = {row["name"]: row for row in json.loads(foible("zoo", "table", "--json").stdout)}
    assert set(rows) == {n for n, e in cards().items() if e.role == "generators"}
    assert rows["mnist-vae"]["latent_size"] == 400 and rows["mnist-vae"]["training_seconds"] > 0
    assert (
        "| domain | family | model | latent size | training time | inference time | usable starting images |"
        in markdown
    )
    assert all(name in text and f"| {name} |" in markdown for name in rows)


def test_ls_shows_every_card_and_marks_what_is_not_here(lean):
    lines = {line.split()[0]: line for line in foible("ls", "zoo").stdout.splitlines()}
    assert {"mnist-vae", "svhn-gan", "cifar10-vgg", "mnist-reference-residual"} <= set(lines)
    assert all(word in lines["mnist-vae"] for word in ("generator", "vae", "8.87 MB", "4,433,584", "FID", "MIT"))
    assert "not installed" in lines["mnist-vae"] and "reference" in lines["mnist-reference-residual"]


def test_a_card_is_shown_whole():
    done = foible("zoo", "show", "mnist-vae")
    card = tomllib.loads(done.stdout)
    assert card["sha256"] == entry("mnist-vae").sha256 and card["measured"]["extractor"] and card["curve"]
    assert "did you mean 'mnist-vae'" in foible("zoo", "show", "mnist-vea").stderr


@pytest.mark.parametrize("recipe", ["gift-mnist-vae-high", "demo"])
def test_weights_that_are_not_here_say_how_to_get_them(recipe, lean):
    done = foible("run", recipe, "--data", "sample", "--attempts", 1)
    assert done.returncode == 2
    assert "the weights of 'mnist-vae' are not installed" in done.stderr
    assert "foible train vae --domain mnist" in done.stderr and str(own_zoo()) in done.stderr
    assert "copy mnist-vae.safetensors from foible's repository" in done.stderr
    assert "--generator FILE.safetensors" in done.stderr


@pytest.mark.usefixtures("lean")
def test_a_teacher_that_is_not_here_says_how_to_get_it():
    with pytest.raises(ModelError) as error:
        known_teacher(load_domain("svhn"), "svhn-teacher", ["features.2"])
    assert "foible train classifier --domain svhn --recipe svhn-teacher" in error.value.hint


def test_a_recipe_may_name_a_model_that_has_no_card_yet(lean):
    (lean / "mnist-vae.toml").unlink()
    done = foible("run", "demo", "--set", "classifier=mnist-reference-separable")
    assert "the weights of 'mnist-vae' are not installed" in done.stderr and "repository" not in done.stderr
    shutil.copy(WEIGHTS / "mnist-vae.safetensors", lean)
    shutil.copy(WEIGHTS / "mnist-vae.toml", lean)
    done = foible("run", "demo", "--set", "classifier=mnist-reference-separable")
    command = "foible train classifier --domain mnist --recipe mnist-reference-separable"
    assert command in done.stderr and "--classifier FILE" in done.stderr


def test_a_published_file_in_ones_own_zoo_fills_the_place(lean):
    assert "mnist-lenet1" not in entries()
    shutil.copy(WEIGHTS / "mnist-lenet1.safetensors", own_zoo())
    assert entries()["mnist-lenet1"].path() == own_zoo() / "mnist-lenet1.safetensors"
    done = foible("test", "mnist-lenet1", "--domain", "mnist", "--data", "sample", "--look")
    assert done.returncode == 0, done.stderr


def test_a_damaged_file_is_refused(lean):
    damaged = own_zoo() / "mnist-lenet1.safetensors"
    damaged.write_bytes((WEIGHTS / "mnist-lenet1.safetensors").read_bytes()[:-1] + b"?")
    done = foible("test", "mnist-lenet1", "--domain", "mnist", "--data", "sample", "--look")
    assert done.returncode == 2 and "damaged" in done.stderr and str(damaged) in done.stderr


def test_a_card_that_is_wrong_is_named():
    (own_zoo() / "mine.toml").write_text("file = 1")
    done = foible("ls", "zoo")
    assert done.returncode == 2 and "mine.toml' is wrong" in done.stderr


def test_appraise_measures_again_and_writes_it_down(tmp_path):
    for suffix in (".toml", ".safetensors"):
        shutil.copy(WEIGHTS / f"mnist-lenet1{suffix}", tmp_path / f"copy{suffix}")
    done = foible("zoo", "appraise", tmp_path / "copy.safetensors", "--data", "sample")
    assert done.returncode == 0, done.stderr
    card = tomllib.loads((tmp_path / "copy.toml").read_text())
    assert card["measured"] == {"data": "mnist_sample.npz (test)", "images": 1000}
    assert 0.95 < card["figures"]["test_accuracy"] != entry("mnist-lenet1").figures["test_accuracy"]
    (tmp_path / "copy.toml").unlink()
    assert "has no card beside it" in foible("zoo", "appraise", tmp_path / "copy.safetensors").stderr


def test_train_appraise_and_draw_a_generator_of_ones_own(tmp_path):
    toys = write_toy_images(tmp_path / "toys", per_class=20)
    assert foible("train", "vae", "--domain", toys, "--epochs", 1, "--batch", 8).returncode == 0
    done = foible("zoo", "appraise", "toys-vae", "--images", 10)
    assert done.returncode == 0, done.stderr
    assert "latent size" in done.stdout and entry("toys-vae").figures["decode_ms"] > 0
    assert "toys-vae" in foible("zoo", "table").stdout and "toys-vae" in foible("ls", "zoo").stdout
    done = foible("zoo", "sheet", "toys-vae", "--out", tmp_path / "sheet.png")
    assert done.returncode == 0 and Image.open(tmp_path / "sheet.png").size == (16 * 8 - 2, 3 * 8 - 2)


def test_a_recipe_of_a_study_is_printed_as_a_file_of_its_own(tmp_path):
    printed = foible("ls", "recipes", "gift-mnist-vae-low").stdout
    (tmp_path / "mine.toml").write_text(printed)
    mine, built_in = load_recipe(tmp_path / "mine.toml"), load_recipe("gift-mnist-vae-low")
    assert mine.resolved() == {**built_in.resolved(), "name": "mine"}
    assert "gift-cifar10-gan-high" in foible("ls", "recipes").stdout
    assert "did you mean" in foible("ls", "recipes", "gift-mnist-vea-low").stderr
    assert "foible zoo show" in foible("ls", "zoo", "mnist-vae").stderr


def test_a_judge_is_neither_appraised_nor_tuned(tmp_path):
    assert "'mnist-judge' is a judge" in foible("zoo", "appraise", "mnist-judge").stderr
    done = foible("train", "judge", "--domain", "mnist", "--tune", 2, "--out", tmp_path / "x.safetensors")
    assert done.returncode == 2 and "a judge is not tuned" in done.stderr
