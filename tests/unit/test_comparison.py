"""Comparisons of runs written by hand: twenty origins, no networks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from foible.errors import RecipeError
from foible.metrics import Cost, exact_mcnemar
from foible.report.comparison import Comparison, compare
from foible.report.comparison_text import print_comparison
from foible.report.sides import sharing, sides
from foible.report.trials import trials
from foible.testing.runs import BUDGET, Story, write_run

HELD = Story(False, BUDGET)
REJECTED = Story(False, None)


def found(cost: int, counts: bool | None = True) -> Story:
    return Story(True, cost, counts)


STRONG = [found(10 + k, counts=k < 15) for k in range(18)] + [HELD, REJECTED]
WEAK = [found(40 + k, counts=k < 3) for k in range(6)] + [HELD] * 13 + [REJECTED]


def test_trials_say_what_the_store_holds(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [found(7), found(8, False), found(9, None), HELD, REJECTED])
    told = trials(run)
    assert [t.confirmed for t in told.values()] == [True, True, True, False]
    assert [t.counts for t in told.values()] == [True, False, None, False]
    assert [t.cost for t in told.values()] == [Cost(7, True), Cost(8, True), Cost(9, True), Cost(BUDGET, False)]
    assert 4 not in told, "a rejected origin was never searched"


def test_two_runs_on_the_same_origins(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "strong", STRONG), write_run(tmp_path / "weak", WEAK)]
    result = compare(runs)
    (duel,) = result.duels
    assert (duel.first, duel.second, duel.shared, duel.seeds) == ("strong", "weak", 19, 1)
    pairs = duel.confirmed.pairs
    assert (pairs.both, pairs.first_only, pairs.second_only, pairs.neither) == (6, 12, 0, 1)
    assert duel.confirmed.p_value == exact_mcnemar(12, 0)
    assert duel.counts is not None and (duel.counts.first.count, duel.counts.second.count) == (15, 3)
    assert (duel.cost.first_median, duel.cost.second_median) == (19, None)
    assert duel.cost.first_is_cheaper and result.tests == 3
    assert all(t.corrected >= t.p_value for t in duel.tests.values()), "all three are of one family"
    assert not result.omnibus


def test_the_sentences_are_plain(tmp_path: Path) -> None:
    result = compare([write_run(tmp_path / "weak", WEAK), write_run(tmp_path / "strong", STRONG)])
    confirmed, counts, cost = result.sentences
    assert confirmed.startswith(
        "strong finds more confirmed failures than weak: 18 against 6 of 19 starting images, p < 0.001"
    )
    assert "odds of at least 2.8" in confirmed, "12 against 0: 0.025^(1/12) as odds"
    assert counts.startswith(
        "strong finds more failures that count than weak: 15 against 3 of 19 starting images, p < 0.001"
    )
    assert cost.startswith("strong needs fewer evaluations to a failure than weak: median 19 against more than 100")
    assert "after correction" in cost and "large effect" in cost
    assert any("One seed each" in note for note in result.notes)


def test_no_difference_comes_with_what_could_have_been_seen(tmp_path: Path) -> None:
    flip = [*WEAK[1:6], HELD, found(50), *WEAK[7:]]
    result = compare([write_run(tmp_path / "a", WEAK), write_run(tmp_path / "b", flip)])
    assert result.sentences[0].startswith("No difference in confirmed failures is shown between a and b: 6 against 6")
    assert "so few starting images would not show any difference 8 times of 10" in result.sentences[0]
    many = compare([write_run(tmp_path / "e", WEAK * 20), write_run(tmp_path / "f", [*flip * 19, *WEAK])])
    assert " points would be found 8 times of 10" in many.sentences[0]
    same = compare([write_run(tmp_path / "c", WEAK), write_run(tmp_path / "d", WEAK)])
    assert same.sentences[0] == "c and d find confirmed failures on the same 6 of 19 starting images."
    assert [t.p_value for t in same.duels[0].tests.values()] == [1, 1, 1]


def test_three_runs_have_a_test_of_all(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, stories) for name, stories in (("a", STRONG), ("b", WEAK), ("c", WEAK))]
    result = compare(runs, names=["one", "two", "three"], correction="benjamini-hochberg")
    assert [o.measure for o in result.omnibus] == ["confirmed", "counts"]
    assert result.omnibus[0].result.statistic == pytest.approx(24), "12 origins (1, 0, 0): each adds 2"
    assert "do not all find confirmed failures equally often" in result.sentences[0]
    assert [(d.first, d.second) for d in result.duels] == [("one", "two"), ("one", "three"), ("two", "three")]
    assert result.tests == 9


def test_seeds_of_one_recipe_are_one_side(tmp_path: Path) -> None:
    strong = [write_run(tmp_path / f"strong-{s}", STRONG, seed=s) for s in (0, 1, 2)]
    weak = [write_run(tmp_path / f"weak-{s}", WEAK, seed=s, search={"use": "random"}) for s in (0, 1)]
    result = compare([*strong, *weak])
    (duel,) = result.duels
    assert (duel.first, duel.second) == ("strong (3 seeds)", "weak (2 seeds)")
    assert (duel.shared, duel.seeds) == (38, 2), "seed 2 has no partner"
    assert result.sides[0].confirmed.total == 57
    assert "Seeds: strong (3 seeds) 3, weak (2 seeds) 2." in result.notes
    with pytest.raises(RecipeError, match="seed alone"):
        compare(strong)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": 1, "search": {"use": "random"}}, "seed: 0 -> 1"),
        ({"domain": "cars"}, "domain: pets -> cars"),
        ({"generator": {"use": "generator", "steps": 9}}, "generator.steps: None -> 9"),
        ({"classes": ["cat"]}, "classes"),
    ],
)
def test_runs_without_shared_origins_are_refused(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    runs = [write_run(tmp_path / "a", STRONG), write_run(tmp_path / "b", WEAK, **change)]
    with pytest.raises(RecipeError, match="do not start from the same images") as refused:
        compare(runs)
    assert reason in refused.value.message
    assert len(sharing(sides(runs))) == 2


def test_a_generator_with_other_weights_is_another_generator(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "a", STRONG), write_run(tmp_path / "b", WEAK)]
    path = tmp_path / "b" / "manifest.json"
    path.write_text(path.read_text().replace("ab" * 32, "cd" * 32))
    from foible.store import open_run

    with pytest.raises(RecipeError, match=r"other weights under the same name, generator\.safetensors"):
        compare([runs[0], open_run(tmp_path / "b")])


def test_what_was_not_judged_is_left_out(tmp_path: Path) -> None:
    half = [Story(s.found, s.cost, None) if k == 0 else s for k, s in enumerate(WEAK)]
    result = compare([write_run(tmp_path / "a", STRONG), write_run(tmp_path / "b", half)])
    counts = result.duels[0].counts
    assert counts is not None and (counts.pairs.shared, counts.left_out) == (18, 1)
    assert "1 shared starting images are left out" in counts.sentence
    nobody = [Story(s.found, s.cost, None) for s in WEAK]
    result = compare([write_run(tmp_path / "c", STRONG), write_run(tmp_path / "d", nobody)])
    assert result.duels[0].counts is None and result.sides[1].counts is None
    assert any("same validators" in note for note in result.notes)


def test_other_budgets_and_open_runs_are_said(tmp_path: Path) -> None:
    small = {"evaluations": 15, "seconds": None}
    early = [found(s.cost or 0) if s.found and (s.cost or 0) <= 15 else Story(False, 15) for s in STRONG[:19]]
    runs = [write_run(tmp_path / "a", STRONG), write_run(tmp_path / "b", early, state="interrupted", budget=small)]
    result = compare(runs)
    assert any(note.startswith("Budgets differ: a 100, b 15") for note in result.notes)
    assert any("not complete" in note for note in result.notes)
    assert result.duels[0].cost.horizon == 15
    assert result.duels[0].cost.p_value == 1, "stopped at 15 both are the same"


def test_text_and_json(tmp_path: Path) -> None:
    result = compare([write_run(tmp_path / "[bold]", STRONG), write_run(tmp_path / "weak", WEAK)])
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    print_comparison(result, console)
    text = console.export_text()
    assert "[bold]" in text and "18 of 19, 94.7 %" in text and "exact McNemar" in text
    assert Comparison.model_validate_json(result.model_dump_json()) == result
    assert json.loads(result.model_dump_json())["duels"][0]["confirmed"]["odds"]["ratio"] is None
