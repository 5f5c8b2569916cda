"""The study of VAE sizes on toy images: what is counted, going on, and bad input."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from foible.cli.main import app
from foible.testing import toys

SHAPE, CLASSES = [1, 8, 8], ["left", "right"]


@pytest.fixture
def domain(tmp_path):
    """Two classes of 8 x 8 images: one half is bright."""
    rng = np.random.default_rng(0)
    arrays = {}
    for split, count in (("train", 300), ("test", 40)):
        labels = np.arange(count) % 2
        pixels = rng.integers(0, 60, (count, 8, 8))
        for k, label in enumerate(labels):
            pixels[k, :, 4 * label : 4 * label + 4] += 150
        arrays |= {f"x_{split}": pixels.astype(np.uint8), f"y_{split}": labels.astype(np.uint8)}
    np.savez(tmp_path / "halves.npz", **arrays)
    (tmp_path / "halves.toml").write_text(f"shape = {SHAPE}\nclasses = {json.dumps(CLASSES)}\n")
    (tmp_path / "brighter.py").write_text(
        "import torch\n"
        "class Brighter:\n"
        f"    name, classes, offers = 'brighter', {tuple(CLASSES)}, frozenset()\n"
        "    def __call__(self, images):\n"
        "        return torch.stack([images[..., :4].mean((1, 2, 3)), images[..., 4:].mean((1, 2, 3))], 1)\n"
    )
    return tmp_path


def study(folder, *options):
    command = ["study", "vae", "--domain", str(folder / "halves.toml"), "--data", str(folder / "halves.npz")]
    own = ["--classifier", f"{folder / 'brighter.py'}:Brighter", "--epochs", "2", "--out", str(folder / "out")]
    return CliRunner().invoke(app, [*command, *own, *options])


def test_every_kind_and_size_is_measured_and_nothing_is_trained_twice(domain):
    said = study(domain, "--latent", "1", "2")
    assert said.exit_code == 0, said.output
    facts = json.loads((domain / "out" / "study.json").read_text())
    assert [(s["kind"], s["latent"]) for s in facts["sizes"]] == [
        ("linear", 1), ("linear", 2), ("convolutional", 1), ("convolutional", 2),
    ]  # fmt: skip
    assert facts["originals"]["count"] == facts["originals"]["total"] == 40
    assert all(s["recognised"]["total"] == 40 and 0 < s["pixel_error"] < 1 for s in facts["sizes"])
    again = study(domain, "--latent", "1", "2")
    assert "training" not in again.output and again.output.splitlines()[-5:] == said.output.splitlines()[-5:]
    other = study(domain, "--latent", "1", "--epochs", "3")
    assert other.exit_code == 2 and "trained with other settings" in other.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--latent", "0"], "must be at least 1"),
        (["--latent", "four"], "not a list of numbers"),
        (["--kinds", "linaer"], "no VAE network is called 'linaer'"),
    ],
)
def test_bad_input_is_named(domain, options, words):
    said = study(domain, *options)
    assert said.exit_code == 2 and words in said.output, said.output


def test_a_domain_without_a_classifier_is_named(tmp_path):
    images = toys.write_toy_images(tmp_path / "toys")
    said = CliRunner().invoke(app, ["study", "vae", "--domain", str(images), "--latent", "2", "--out", str(tmp_path)])
    assert said.exit_code == 2 and "no classifier of its own" in said.output, said.output
