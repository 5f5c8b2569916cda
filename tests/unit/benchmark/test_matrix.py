"""Matrix recipes: what they mean, which part of one is wanted, and what is said of a wrong one."""

import pytest

from foible.benchmark import load_matrix, matrix_names
from foible.errors import RecipeError
from foible.registry import table


def names(matrix):
    return [cell.name for cell in matrix.cells]


def test_the_benchmarks_that_come_with_foible_are_sound():
    assert {"gift", "models", "searches"} <= set(matrix_names())
    assert len(load_matrix("gift").cells) == 54
    assert [c.recipe.classifier.use for c in load_matrix("models").cells][:2] == ["mnist-deepconv", "mnist-lenet1"]


def test_every_search_for_a_failure_of_one_classifier_is_compared():
    others = {"nsga2", "frontier", "mutation_queue", "climb"}  # for two classifiers, or for something else
    compared = {cell.recipe.search.use for cell in load_matrix("searches").cells}
    assert compared | others == set(table("searches")) and not compared & others


def test_a_file_gives_the_product_of_its_axes(toy_matrix):
    matrix = load_matrix(toy_matrix())
    assert names(matrix) == ["toys-encoder-near", "toys-encoder-far", "toys-sampler-near", "toys-sampler-far"]
    first = matrix.cells[0]
    assert first.parts == ("encoder", "near") and first.recipe.name == first.name
    assert first.recipe.search.parameters["extent"] == 0.01
    assert first.evaluations == (6 + 2) * 120


def test_changes_reach_every_cell_and_seeds_repeat_them(toy_matrix):
    matrix = load_matrix(toy_matrix(), {"attempts": 3, "seed": 5}, seeds=2)
    assert len(matrix.cells) == 8
    assert names(matrix)[:2] == ["toys-encoder-near-seed-5", "toys-encoder-near-seed-6"]
    assert {(c.recipe.attempts, c.recipe.seed) for c in matrix.cells} == {(3, 5), (3, 6)}


def test_only_a_part(toy_matrix):
    path = toy_matrix()
    assert names(load_matrix(path, only=["far"])) == ["toys-encoder-far", "toys-sampler-far"]
    assert names(load_matrix(path, only=["enc*", "near"])) == ["toys-encoder-near"]
    assert len(load_matrix(path, only=["enc*", "sampler", "near"]).cells) == 2
    assert len(load_matrix("gift", only=["mnist-*", "low"]).cells) == 3
    assert load_matrix(toy_matrix("five", axes=[{"5": {"title": 5}}])).cells[0].titles == ("5",)
    with pytest.raises(RecipeError, match="--only 'fra' matches no cell") as wrong:
        load_matrix(path, only=["fra"])
    assert "did you mean 'far'" in wrong.value.hint


def test_a_wrong_cell_is_named(toy_matrix):
    axes = [
        {
            "good": {"title": "good"},
            "bad": {"title": "bad", "serch": "genetic"},
            "worse": {"budget": {"evaluations": 0}},
        }
    ]
    with pytest.raises(RecipeError) as wrong:
        load_matrix(toy_matrix(axes=axes))
    assert "cell 'toys-bad': recipe has an unknown key 'serch'" in wrong.value.message
    assert "did you mean 'search'" in wrong.value.message
    assert "cell 'toys-worse': recipe: 'budget.evaluations' = 0 is wrong" in wrong.value.message
    assert "toys-good" not in wrong.value.message
    assert names(load_matrix(toy_matrix(axes=axes), only=["good"])) == ["toys-good"], "others do not matter then"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"search": {"use": "genetc"}}, "cell 'toys-bad': no search is called 'genetc' (did you mean 'genetic'"),
        ({"search": {"extnt": 0.1}}, "cell 'toys-bad': search 'genetic' has no parameter 'extnt'"),
        ({"objective": "margn"}, "cell 'toys-bad': no objective is called 'margn'"),
        ({"baseline": {"use": "randm"}}, "cell 'toys-bad': no search is called 'randm'"),
    ],
)
def test_a_part_that_does_not_exist_is_named_with_its_cell(toy_matrix, part, message):
    with pytest.raises(RecipeError) as wrong:
        load_matrix(toy_matrix(axes=[{"good": {}, "bad": part}]))
    assert message in wrong.value.message and "toys-good" not in wrong.value.message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name = ", "is not TOML"),
        ("[shared]\ntitle = 'x'", r"has no \[\[axes\]\]"),
        ("[[axes]]\n", "has no cell in axis 1"),
        ("[[axes]]\nlow = 3", "in axis 1 a 'low' that is not a table"),
        ("attempts = 3\n[[axes]]\nlow = {}", "unknown key 'attempts'"),
        ("shared = 3\n[[axes]]\nlow = {}", "'shared' that is not a table"),
        ("axes = [3]", "has no cell in axis 1"),
        ("[[axes]]\n'../up' = {}", "'../up', which cannot be part of a folder's name"),
        ("[[axes]]\na = {}\na-b = {}\n[[axes]]\nc = {}\nb-c = {}", "has two cells 'm-a-b-c'"),
    ],
)
def test_a_file_of_the_wrong_shape(tmp_path, content, message):
    path = tmp_path / "m.toml"
    path.write_text(content)
    with pytest.raises(RecipeError, match=message):
        load_matrix(path)


def test_unknown_benchmarks(tmp_path):
    with pytest.raises(RecipeError, match="no benchmark 'gitf'") as wrong:
        load_matrix("gitf")
    assert "did you mean 'gift'" in wrong.value.hint
    with pytest.raises(RecipeError, match="--seeds 0"):
        load_matrix("gift", seeds=0)
