"""What the wheel leaves out, as its configuration says it."""

import tomllib
from pathlib import Path

import pytest

from foible.campaign import load_recipe
from foible.zoo import cards, entries

ROOT = Path(__file__).parents[3]


@pytest.fixture
def in_wheel():
    pathspec = pytest.importorskip("pathspec")  # what the build backend itself reads these patterns with
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    left_out = pathspec.GitIgnoreSpec.from_lines(wheel["exclude"])
    return lambda file: not left_out.match_file(f"src/foible/zoo/weights/{file}")


def test_the_wheel_holds_every_card_and_the_models_of_the_demo(in_wheel):
    demo = load_recipe("demo")
    assert all(in_wheel(f"{name}.toml") for name in cards())
    assert in_wheel(entries()[demo.generator.use].file) and in_wheel(entries()[demo.classifier.use].file)
    assert in_wheel("../../domains/mnist_sample.npz")


def test_the_wheel_leaves_the_larger_weights_out_and_stays_small(in_wheel):
    assert not any(in_wheel(f"{domain}-gan.safetensors") for domain in ("fashion", "svhn", "cifar10"))
    assert sum(card.bytes for card in cards().values() if in_wheel(card.file)) < 30e6
