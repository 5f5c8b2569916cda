"""Runs that keep every failure: copies count once, and sides are compared run by run."""

import pytest

from foible.api import run as run_campaign
from foible.benchmark import load_matrix, run_benchmark, write_tables
from foible.benchmark.tables import results, results_table
from foible.report.comparison import compare
from foible.report.harvest import Harvest, harvest, harvest_duel
from foible.store import open_run
from foible.testing.toys import toy_recipe


def gathered(*distinct):
    return [Harvest(failures=10 * n, distinct=n, evaluations=1000) for n in distinct]


def test_three_runs_against_three_by_pencil():
    duel = harvest_duel(gathered(7, 8, 9), gathered(1, 2, 3))
    assert duel.p_value == pytest.approx(2 / 20), "two of the twenty ways to deal six runs are as extreme"
    assert duel.larger == 1.0


def test_failures_are_weighed_by_what_they_cost():
    dear = [Harvest(failures=9, distinct=9, evaluations=9000)]
    assert harvest_duel(dear, gathered(2)).larger == 0.0
    assert Harvest(failures=0, distinct=0, evaluations=0).each_thousand == 0.0


@pytest.fixture
def run_of(toy_images, tmp_path):
    def made(name, seed, **changes):
        facts = {"attempts": 3, "budget": {"evaluations": 150}, "baseline": {"attempts": 0}, "seed": seed} | changes
        run_campaign(toy_recipe(toy_images, **facts), tmp_path / name)
        return open_run(tmp_path / name)

    return made


def test_copies_of_a_failure_count_once(run_of):
    run = run_of("every", 0, ends="never", keeps="every")
    found = harvest(run)
    assert found.failures == len(list(run.findings())) > found.distinct > 0
    assert found.evaluations == sum(o.evaluations for o in run.outcomes())


def test_seeds_are_the_observations(run_of):
    near, far = (
        [
            run_of(f"{name}-{seed}", seed, ends="never", keeps="every", search={"use": "genetic", "extent": extent})
            for seed in range(2)
        ]
        for name, extent in (("near", 0.01), ("far", 0.05))
    )
    (duel,) = compare([*near, *far]).duels
    assert duel.harvest is not None and len(duel.harvest.first) == len(duel.harvest.second) == 2
    assert duel.harvest.sentence.endswith("so few runs would not show any."), "2 against 2 runs: p is at least 1/3"
    assert "over 2 and 2 runs" in duel.harvest.sentence and duel.harvest.corrected >= duel.harvest.p_value


def test_runs_that_keep_the_best_have_no_harvest(run_of):
    runs = [run_of("one", 0), run_of("other", 0, search={"use": "genetic", "extent": 0.05})]
    assert compare(runs).duels[0].harvest is None


def test_a_benchmark_tells_what_was_gathered(toy_matrix, tmp_path):
    matrix = load_matrix(toy_matrix(ends="never", keeps="every"))
    run_benchmark(matrix, tmp_path / "out")
    table = results_table(results(matrix, tmp_path / "out"))
    assert table.headings[-3:] == ("failures kept", "distinct", "distinct per 1,000 evaluations")
    assert all(row[-3] >= row[-2] for row in table.rows)
    write_tables(matrix, tmp_path / "out")
    assert "distinct failures gathered" in (tmp_path / "out" / "tables" / "comparisons.md").read_text()
