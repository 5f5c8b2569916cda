"""`foible diff` as a user meets it, on toys."""

from pathlib import Path

import pytest

import foible as package
from foible.errors import RecipeError
from foible.testing.toys import toy_recipe

from .conftest import foible

TOYS = Path(package.__file__).parent / "testing" / "toys.py"


@pytest.fixture
def common(toy_images, tmp_path):
    return (
        f"{TOYS}:ToyClassifier",
        f"{TOYS}:ToyClassifier",
        *("--domain", toy_images, "--generator", f"{TOYS}:ToyEncoder", "--attempts", 9, "--samples", 50),
        *("--set", "classifiers.rival.bias=0.75", "--set", "classifiers.rival.name=other", "--set", "engine.chunk=16"),
        *("--out", tmp_path / "run"),
    )


def test_disagreements_are_found_kept_and_asked_again(common, toy_images, tmp_path):
    corpus = tmp_path / "c.npz"
    done = foible("diff", *common, "--save-corpus", corpus, "--fail-if", "real_disagreements > 0")
    assert done.returncode == 0, done.stderr
    assert "A = toy-classifier" in done.stdout and "B = other" in done.stdout
    assert "real images  0 of 12" in done.stdout, "the named bar is far brighter than 0.075"
    assert "A \\ B" in done.stdout and "only A right" in done.stdout
    assert (tmp_path / "run" / "report.html").is_file() and corpus.is_file()
    assert foible("diff", *common, "--fail-if", "disagreements > 0", "-q").returncode == 1, "the same run, gated"
    again = foible("diff", *common[:4], "--corpus", corpus, "--fail-if", "corpus_disagreements > 0")
    assert again.returncode == 0, again.stderr
    assert "A and B disagree now on       0" in again.stdout, "the same model twice"
    changed = foible("diff", *common[:4], "--corpus", corpus, "--fail-if", "corpus_changed_b > 0")
    assert changed.returncode == 1 and "gate failed" in changed.stdout


def test_what_cannot_be_compared_is_said(common, tmp_path):
    alone = foible("diff", common[0], *common[2:])
    assert alone.returncode == 2 and "two models" in alone.stderr
    no_variant = foible("diff", common[0], *common[2:6], "--variant", "int8")
    assert no_variant.returncode == 2 and "variant" in no_variant.stderr
    typo = foible("diff", *common, "--fail-if", "disagrements > 0")
    assert typo.returncode == 2 and "disagreements" in typo.stderr and not (tmp_path / "run").exists()
    missing = foible("diff", *common[:4], "--corpus", tmp_path / "none.npz")
    assert missing.returncode == 2 and "--save-corpus" in missing.stderr


def test_a_recipe_without_a_rival_is_refused(toy_images, tmp_path):
    with pytest.raises(RecipeError, match="rival"):
        package.run(toy_recipe(toy_images, search="frontier"), tmp_path / "run")
