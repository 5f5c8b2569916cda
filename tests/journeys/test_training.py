"""Training as a user does it: a tree of one's own, four families, a stop and a resume, tuning, the zoo of one's own."""

import io
import sys
import tomllib

import numpy as np
import pytest
import torch
from PIL import Image

from foible.cli.training_progress import training_progress
from foible.zoo import entries, load_model, own_zoo

from .conftest import foible

SMALL = ("--epochs", 1, "--batch", 8)


@pytest.fixture(scope="module")
def bars(tmp_path_factory):
    """Two classes of 8x8 images: the upper or the lower half is bright."""
    root, rng = tmp_path_factory.mktemp("own") / "bars", np.random.default_rng(0)
    for label, name in enumerate(("upper", "lower")):
        (root / name).mkdir(parents=True)
        for k in range(20):
            pixels = rng.integers(0, 80, (8, 8), dtype=np.uint8)
            pixels[4 * label : 4 * label + 4] += 150
            Image.fromarray(pixels).save(root / name / f"{k}.png")
    return root


@pytest.mark.parametrize(
    ("family", "role"),
    [("vae", "generators"), ("gan", "generators"), ("diffusion", "generators"), ("classifier", "classifiers")],
)
def test_every_family_learns_from_a_tree_of_ones_own(family, role, bars, tmp_path):
    out = tmp_path / f"{family}.safetensors"
    done = foible("train", family, "--domain", bars, *SMALL, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "epoch 1/1" in done.stderr and str(out) in done.stdout
    assert Image.open(tmp_path / f"{family}.loss.png").size[0] > 100
    assert tomllib.loads((tmp_path / f"{family}.toml").read_text())["recipe"]["family"] == family
    model = load_model(out, role)
    if role == "generators":
        labels = torch.tensor([0, 1])
        assert model.decode(model.sample(labels, torch.Generator()), labels).shape == (2, 1, 8, 8)
    else:
        assert model.classes == ("lower", "upper")


def test_a_stopped_training_goes_on_to_the_same_model(bars, tmp_path, monkeypatch):
    command = ["train", "vae", "--domain", bars, "--epochs", 3, "--batch", 8, "--out"]
    assert foible(*command, tmp_path / "whole.safetensors").returncode == 0

    class Stopping(io.StringIO):
        def write(self, text):
            if "epoch 2/3" in text:
                raise KeyboardInterrupt
            return super().write(text)

    with monkeypatch.context() as patch:
        patch.setattr("tests.journeys.conftest.io.StringIO", Stopping)
        stopped = foible(*command, tmp_path / "stopped.safetensors")
    assert stopped.returncode == 3 and "goes on where it was" in stopped.stderr
    assert (tmp_path / "stopped.checkpoint").exists() and not (tmp_path / "stopped.safetensors").exists()
    resumed = foible(*command, tmp_path / "stopped.safetensors")
    assert resumed.returncode == 0 and "epoch 1/3" not in resumed.stderr and "epoch 3/3" in resumed.stderr
    assert (tmp_path / "stopped.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()


def test_a_model_without_a_place_goes_into_ones_own_zoo_and_recipes_find_it(bars, tmp_path):
    for family in ("vae", "classifier"):
        done = foible("train", family, "--domain", bars, "--epochs", 4, "--batch", 8)
        assert done.returncode == 0, done.stderr
    assert set(entries()) >= {"bars-vae", "bars-classifier"}
    assert entries()["bars-vae"].path() == own_zoo() / "bars-vae.safetensors"
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        f'domain = "{bars}"\ngenerator = "bars-vae"\nclassifier = "bars-classifier"\nattempts = 2\n'
        "[budget]\nevaluations = 50\n[engine]\nchunk = 8\n"
    )
    checked = foible("check", recipe)
    assert "'bars-vae' makes 1x8x8 images" in checked.stdout
    again = foible("train", "vae", "--domain", bars, *SMALL)
    assert again.returncode == 2 and "the zoo has 'bars-vae' already" in again.stderr and "--out" in again.stderr


def test_tuning_a_classifier_keeps_the_best_and_clears_up(bars, tmp_path):
    out = tmp_path / "best.safetensors"
    done = foible("train", "classifier", "--domain", bars, *SMALL, "--tune", 2, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "trial 1/2" in done.stderr and "best of 2" in done.stdout and "fit.learning_rate = " in done.stdout
    card = tomllib.loads((tmp_path / "best.toml").read_text())
    assert card["file"] == "best.safetensors" and card["tuned"]["trials"] == 2 and card["tuned"]["measure"] == "error"
    assert {p.name for p in tmp_path.iterdir()} == {"best.safetensors", "best.toml", "best.loss.png"}
    assert f"fit.learning_rate = {card['recipe']['fit']['learning_rate']}" in done.stdout


@pytest.mark.parametrize("toward", ["kid", "fid"])
def test_tuning_a_generator_names_what_judged_it(toward, bars, tmp_path):
    domain = tmp_path / "halves.toml"
    domain.write_text(
        f'shape = [1, 8, 8]\nclasses = ["lower", "upper"]\nfolder = "{bars}"\nreferences = ["halves-classifier"]\n'
    )
    refused = foible("train", "vae", "--domain", domain, *SMALL, "--tune", 2)
    assert refused.returncode == 2 and "FID and KID need a network that knows the domain 'halves'" in refused.stderr
    assert foible("train", "classifier", "--domain", domain, "--epochs", 2, "--batch", 8).returncode == 0
    done = foible("train", "vae", "--domain", domain, *SMALL, "--tune", 2, "--tune-for", toward)
    assert done.returncode == 0, done.stderr
    tuned = tomllib.loads((own_zoo() / "halves-vae.toml").read_text())["tuned"]
    assert tuned["measure"] == f"{toward.upper()} (last features of halves-classifier)"


def test_options_that_are_given_are_not_tuned(bars, tmp_path):
    given = ["--batch", 8, "--learning-rate", 0.01, "--tune", 2, "--out", tmp_path / "x.safetensors"]
    done = foible("train", "classifier", "--domain", bars, *given)
    assert done.returncode == 2 and "nothing is left to tune: fit.learning_rate, fit.batch are given" in done.stderr


def test_without_the_training_extra_the_install_line_is_shown(bars, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = foible("train", "vae", "--domain", bars, *SMALL, "--tune", 2, "--out", tmp_path / "x.safetensors")
    assert done.returncode == 2 and "tuning needs the package 'optuna'" in done.stderr
    assert 'pip install "foible[training]"' in done.stderr and not list(tmp_path.iterdir())


def test_on_a_terminal_there_is_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with training_progress(quiet=False, epochs=2, trials=3) as listener:
        listener.advance(0.5)
        listener.epoch({"epoch": 1.0, "loss": 0.25})
        listener.trial(0, None)
    assert "trial 1/3  stopped early" in screen.getvalue()
    assert "epoch 1/2  loss 0.2500" in screen.getvalue() and "━" in screen.getvalue()
