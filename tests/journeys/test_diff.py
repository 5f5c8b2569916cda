"""`foible diff` as a user meets it, on toys."""

from pathlib import Path

import pytest

import foible as package
from foible.differing.corpus import corpus_of
from foible.differing.page import parts
from foible.errors import RecipeError, StoreError
from foible.store import open_run
from foible.store.answers import give_answer
from foible.testing.toys import toy_recipe

from .conftest import foible

OTHER = """
from foible.testing.toys import ToyClassifier
from foible.records import Verdict


class Other(ToyClassifier):
    def __init__(self):
        super().__init__("other", bias=0.75)


class Shut(ToyClassifier):
    offers = frozenset()


class Picky:
    name = "picky"

    def __call__(self, images, labels):
        bars = images.mean((1, 2)).unflatten(1, (3, 2)).mean(2).sort(1, descending=True).values
        return [(Verdict("picky", bool(b[0] - b[1] > 0.1), 0.5),) for b in bars]
"""
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
    page = tmp_path / "run" / "difference.html"
    page.unlink()
    gated = foible("diff", *common, "--fail-if", "disagreements > 0", "-q")
    assert gated.returncode == 1 and gated.stdout == "" and page.is_file(), (
        "the same run, for a build that keeps the page"
    )
    again = foible("diff", *common[:4], "--corpus", corpus, "--fail-if", "corpus_disagreements > 0")
    assert again.returncode == 0, again.stderr
    assert "A and B disagree now on       0" in again.stdout, "the same model twice"
    changed = foible("diff", *common[:4], "--corpus", corpus, "--fail-if", "corpus_changed_b > 0")
    assert changed.returncode == 1 and "gate failed" in changed.stdout


def test_a_model_does_not_differ_from_itself(common, tmp_path):
    same = [*common[:2], *common[2:8], "--set", "engine.chunk=16", "--out", tmp_path / "run"]
    done = foible("diff", *same, "--save-corpus", tmp_path / "c.npz", "--fail-if", "disagreements > 0")
    assert done.returncode == 0, done.stderr
    assert "corpus of 0 images" in done.stdout and (tmp_path / "run" / "difference.html").is_file()
    again = foible("diff", *common[:4], "--corpus", tmp_path / "c.npz", "--fail-if", "corpus_disagreements > 0")
    assert again.returncode == 0, again.stderr


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


def test_the_page_shows_matrix_triples_and_growth(common, tmp_path):
    (tmp_path / "mine.py").write_text(OTHER)
    assert foible("diff", *common, "--filter", f"{tmp_path}/mine.py:Picky", "--published").returncode == 0
    page = (tmp_path / "run" / "difference.html").read_text()
    for part in ("What A says, what B says", "<polyline", "A says", "Who is right", "filter", "data:image/png"):
        assert part in page
    shown = parts(open_run(tmp_path / "run"))
    assert set(shown) == {"figures", "matrix", "categories", "growth", "wins", "triples"}
    assert "<svg" in shown["growth"] and "<html" not in shown["growth"]
    with pytest.raises(StoreError, match="differences"):
        (tmp_path / "run" / "difference.json").unlink()
        parts(open_run(tmp_path / "run"))


def test_more_than_two_models_are_bred_and_compared_in_pairs(common, tmp_path):
    settings = ("--set", "search.population=8", "--set", "search.look=[1,6,6]", "--set", "budget.evaluations=200")
    done = foible("diff", *common, "--also", common[0], *settings, "--set", "objective.look=[1,6,6]")
    assert done.returncode == 0, done.stderr
    assert "C = toy-classifier" in done.stdout and "not all of one mind on 0" in done.stdout
    assert open_run(tmp_path / "run").manifest.recipe["search"]["use"] == "nsga2"


def test_people_are_asked_and_their_word_stands(common, tmp_path):
    """Somebody sees "right" in the first disagreement: that is expected of it from then on."""
    (tmp_path / "mine.py").write_text(OTHER)
    done = foible("diff", *common, "--set", f'validators=["{tmp_path}/mine.py:Picky"]', "--survey", 5)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "survey.html").is_file() and "undecided 0" not in done.stdout
    run = open_run(tmp_path / "run")
    first = next(iter(run.findings()))
    give_answer(run.layout, "ann", first.key, 2)
    corpus, by = corpus_of(run, ("a", "b"))
    assert int(corpus.expected[0]) == 2 and by.startswith("people")


def test_the_other_questions(common, toy_images, tmp_path):
    drift = foible("diff", *common[:4], "--parity", "--fail-if", "drift_flips > 0")
    assert drift.returncode == 0, drift.stderr
    assert "exactly equal" in drift.stdout and "gate passed" in drift.stdout
    mine = foible("diff", *common[:8], "--reuse", "--unrelated", f"{TOYS}:ToyClassifier", "--out", tmp_path / "reuse")
    assert mine.returncode == 0, mine.stderr
    assert "no sign that B is derived from A" in mine.stdout, "the unrelated one makes the same mistakes"
    corpus = tmp_path / "c.npz"
    assert foible("diff", *common, "--save-corpus", corpus, "-q").returncode == 0
    models = (f"{TOYS}:ToyClassifier", f"{tmp_path}/mine.py:Other", "--domain", toy_images, "--corpus", corpus)
    (tmp_path / "mine.py").write_text(OTHER)
    gate = ("--fail-if", "corpus_new > 0")
    assert foible("diff", *models, *gate).returncode == 1
    assert foible("diff", *models, "--accept", *gate).returncode == 0
    assert foible("diff", *models, *gate).returncode == 0, "recorded"
    assert foible("diff", *common, "--accept").returncode == 2


def test_where_a_lends_no_gradients_b_leads(common, tmp_path):
    """A is a black box, such as a file exported from B."""
    (tmp_path / "mine.py").write_text(OTHER)
    shut = (f"{tmp_path}/mine.py:Shut", common[1], *common[2:])
    assert foible("diff", *shut).returncode == 0
    run = open_run(tmp_path / "run")
    assert run.manifest.recipe["objective"] == {"use": "between", "guide": "rival"} and len(run.index()) > 9
