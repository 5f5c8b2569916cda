import tomllib

import pytest
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.errors import RecipeError, StoreError
from foible.testing.toys import write_toy_images
from foible.training.features import ClassifierFeatures
from foible.training.ranges import suggest, vary, without
from foible.training.train import TrainingRecipe
from foible.training.tune import keep_best, tune
from foible.zoo import Entry

pytest.importorskip("optuna")


def recipe(root, **tune_table):
    return TrainingRecipe(
        family="classifier",
        domain=str(root),
        network={"network": "lenet1"},
        fit={"epochs": 3, "batch": 16},
        tune=tune_table,
    )


def test_tuning_finds_the_learning_rate_that_learns(tmp_path):
    root = write_toy_images(tmp_path / "toys", per_class=30)
    seen = []
    start = recipe(root, **{"fit.learning_rate": [1e-6, 1e-2]})
    tuned = tune(start, 5, tmp_path / "trials", report=lambda n, v: seen.append((n, v)))
    assert tuned.measure == "error" and tuned.trials == 5 and len(seen) == 5
    assert tuned.value == min(v for _, v in seen if v is not None)
    assert tuned.recipe.fit.learning_rate != start.fit.learning_rate
    assert tuned.recipe.fit.epochs == 3


def test_generators_are_tuned_toward_kid_and_the_extractor_is_named(tmp_path, monkeypatch):
    root = write_toy_images(tmp_path / "toys", per_class=30)
    judge = AdaptedClassifier("judge", nn.Sequential(nn.Flatten(), nn.Linear(36, 3)), ("left", "middle", "right"))
    monkeypatch.setattr("foible.training.tune.features_for", lambda domain: ClassifierFeatures(judge))
    start = TrainingRecipe(
        family="vae",
        domain=str(root),
        network={"hidden": 16, "latent": 3},
        fit={"epochs": 2, "batch": 16},
        tune={"network.latent": [2, 3, 4]},
    )
    tuned = tune(start, 3, tmp_path / "trials", data=root)
    assert tuned.measure == "KID (last features of judge)"
    assert tuned.recipe.network["latent"] in {2, 3, 4}


def test_vary_changes_one_table_only():
    start = recipe("mnist")
    varied = vary(start, {"network.latent": 7, "fit.batch": 32})
    assert varied.network == {"network": "lenet1", "latent": 7} and varied.fit.batch == 32
    assert start.fit.batch == 16


def test_what_is_no_setting_cannot_be_tuned():
    with pytest.raises(RecipeError, match="'family' cannot be tuned"):
        vary(recipe("mnist"), {"family": "vae"})


def test_ranges_and_choices():
    class Trial:
        def suggest_categorical(self, key, among):
            return "choice"

        def suggest_int(self, key, low, high, log):
            return ("int", log)

        def suggest_float(self, key, low, high, log):
            return ("float", log)

    assert suggest(Trial(), "k", ["a", "b"]) == "choice"
    assert suggest(Trial(), "k", [True, False]) == "choice"
    assert suggest(Trial(), "k", [64, 128, 256]) == "choice"
    assert suggest(Trial(), "k", [64, 256]) == ("int", False)
    assert suggest(Trial(), "k", [1e-4, 1e-2]) == ("float", True)


def test_a_stopped_tuning_goes_on_and_repeats_no_trial(tmp_path):
    root = write_toy_images(tmp_path / "toys", per_class=30)
    start = recipe(root, **{"fit.learning_rate": [1e-4, 1e-2]})

    def stop(number, value):
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(start, 4, tmp_path / "trials", report=stop)
    seen = []
    tuned = tune(start, 4, tmp_path / "trials", report=lambda n, v: seen.append(n))
    assert seen == [2, 3] and tuned.trials == 4
    rates = {tomllib.loads(p.read_text())["recipe"]["fit"]["learning_rate"] for p in tuned.path.parent.glob("*.toml")}
    assert len(rates) == len(list(tuned.path.parent.glob("*.toml")))
    with pytest.raises(StoreError, match="holds a tuning of another recipe"):
        tune(start, 4, tmp_path / "trials", toward="fid")
    card = keep_best(tuned, tmp_path / "best.safetensors")
    assert Entry(name="best", folder=tmp_path, **card).path() == tmp_path / "best.safetensors"
    assert card["tuned"]["value"] == tuned.value and not tuned.path.parent.exists()


def test_what_is_settled_does_not_vary():
    start = recipe("mnist")
    assert list(without(start, ["fit.batch"]).tune) == ["fit.learning_rate"]
    with pytest.raises(RecipeError, match="nothing is left to tune"):
        without(start, ["fit.batch", "fit.learning_rate"])
