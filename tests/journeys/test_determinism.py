"""The result of attempt k depends on the seed and k alone."""

import pytest

import foible
from foible.testing.toys import ToyClassifier, ToyGenerator, toy_recipe
from foible.types import Arm, Status

from .conftest import contents


def engine(lanes, chunk=16):
    return {"lanes": lanes, "chunk": chunk, "checkpoint_seconds": 0.01}


@pytest.mark.parametrize("generator", [None, ToyGenerator((2, 3))], ids=["encoder", "sampler"])
def test_lanes_change_nothing(toy_images, tmp_path, generator):
    runs = []
    for lanes in (1, 7, 64):
        recipe = toy_recipe(toy_images, attempts=30, engine=engine(lanes))
        foible.run(recipe, tmp_path / f"lanes{lanes}", generator=generator)
        runs.append(contents(tmp_path / f"lanes{lanes}"))
    assert runs[0] == runs[1] == runs[2]
    assert len(runs[0][1]) > 20, "there is something to compare"


def test_the_zoo_models_too(tmp_path):
    """Real networks: padded chunks keep a row's floating-point result independent of its neighbours."""
    runs = []
    for lanes in (1, 7, 64):
        foible.run(
            "demo", tmp_path / f"{lanes}", attempts=8, **{"baseline.attempts": 3, "budget.evaluations": 500, "search.use": "genetic", "search.extent": 0.004},
            engine=engine(lanes, 32),
        )  # fmt: skip
        runs.append(contents(tmp_path / f"{lanes}"))
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][1]


def test_another_chunk_gives_the_same_labels_and_costs(tmp_path):
    def labels_and_costs(chunk):
        run = foible.run(
            "demo", tmp_path / f"{chunk}", attempts=8, **{"baseline.attempts": 0, "budget.evaluations": 500, "search.use": "genetic", "search.extent": 0.004},
            engine=engine(8, chunk),
        )  # fmt: skip
        return [(f.attempt, f.label, f.predicted, f.evaluations) for f in run.findings()]

    assert labels_and_costs(16) == labels_and_costs(48)


def test_another_seed_gives_another_result(toy_images, tmp_path):
    first = foible.run(toy_recipe(toy_images), tmp_path / "a", seed=1)
    second = foible.run(toy_recipe(toy_images), tmp_path / "b", seed=2)
    assert contents(first.layout.folder) != contents(second.layout.folder)


def test_origins_are_paired_across_settings(toy_images, tmp_path):
    low = foible.run(toy_recipe(toy_images), tmp_path / "low", **{"search.extent": 0.005})
    high = foible.run(toy_recipe(toy_images), tmp_path / "high", **{"search.extent": 0.05})
    assert [o.source for o in low.outcomes()] == [o.source for o in high.outcomes()]
    assert [o.source for o in low.outcomes(Arm.BASELINE)] == [o.source for o in low.outcomes()][:6]


def test_stopping_and_going_on_changes_nothing(toy_images, tmp_path, monkeypatch):
    recipe = toy_recipe(toy_images, attempts=40, engine=engine(8))
    foible.run(recipe, tmp_path / "whole")
    slow = SlowClassifier(0.004)
    stops = 0
    while True:
        run = foible.run(recipe, tmp_path / "parts", classifier=slow, **{"budget.seconds": 0.5})
        if run.state == "complete":
            break
        assert run.state == "out of time"
        stops += 1
    assert stops >= 1
    whole, parts = contents(tmp_path / "whole"), contents(tmp_path / "parts")
    assert whole == parts


class SlowClassifier(ToyClassifier):
    """The toy classifier with a rest after each batch, so that time runs out."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def __call__(self, images):
        import time

        time.sleep(self.seconds)
        return super().__call__(images)


def test_every_attempt_is_accounted_for(toy_images, tmp_path):
    run = foible.run(toy_recipe(toy_images, attempts=30), tmp_path / "run", classifier=DimMiddle())
    counts = run.counts()
    assert sum(counts.values()) == 30
    assert counts[Status.REJECTED] == 10, "the class it is blind to is set apart, never searched"
    assert all(o.evaluations == 0 for o in run.outcomes() if o.status is Status.REJECTED)
    assert all(0 < o.evaluations <= 401 for o in run.outcomes() if o.status is not Status.REJECTED)


class DimMiddle(ToyClassifier):
    """Never says middle."""

    def __call__(self, images):
        scores = super().__call__(images)
        scores[:, 1] -= 20
        return scores
