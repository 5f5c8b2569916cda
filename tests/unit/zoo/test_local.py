"""A model in a folder gets a name: the zoo keeps a card, the files stay where they are."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from foible.errors import ModelError, RecipeError
from foible.generators.networks.tiny_autoencoder import _down, _up
from foible.zoo import cards, entry, resolve
from foible.zoo.local import add, family_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FOIBLE_ZOO", str(tmp_path / "zoo"))
    models, photographs, rng = tmp_path / "Tiny Model", tmp_path / "photographs", np.random.default_rng(0)
    models.mkdir()
    photographs.mkdir()
    for k in range(3):
        Image.fromarray(rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)).save(photographs / f"{k}.png")
    for part, network in (("encoder", _down(8, 5, True)), ("decoder", _up(8, 5, True))):
        torch.save(network.half().state_dict(), models / f"{part}.pth")
    return models


def added(folder, **changes):
    settings = {"images": str(folder.parent / "photographs"), "shape": [3, 16, 16]}
    return add(folder, changes.pop("name", None), "imagenet", settings | changes, "MIT")


def test_a_recipe_finds_it_by_name_and_keeps_its_digest(folder):
    card = added(folder)
    assert card.stem == "tiny-model"
    known = entry("tiny-model")
    assert known.family == "autoencoder" and known.figures["latent_size"] > 0 and known.figures["decode_ms"] > 0
    resolved = resolve("generators", "tiny-model", {})
    assert resolved.model.shape == (3, 16, 16)
    assert resolved.digests == {"tiny-model": known.sha256}
    assert resolve("generators", "tiny-model", {"shape": (3, 32, 32)}).model.shape == (3, 32, 32)


def test_files_that_changed_are_noticed(folder):
    added(folder)
    (folder / "notes.txt").write_text("another file")
    with pytest.raises(ModelError, match="are damaged"):
        entry("tiny-model").path()
    added(folder)
    assert entry("tiny-model").path() == folder


def test_a_folder_that_went_away_is_named(folder):
    added(folder)
    folder.rename(folder.parent / "elsewhere")
    assert entry("tiny-model").weights is None
    with pytest.raises(ModelError, match="is gone") as error:
        entry("tiny-model").path()
    assert "foible zoo add" in error.value.hint


def test_names_of_the_zoo_are_kept(folder):
    with pytest.raises(RecipeError, match="has a model 'mnist-vae' already"):
        added(folder, name="mnist-vae")
    assert "mnist-vae" in cards()


def test_the_family_is_seen_in_the_files(tmp_path):
    with pytest.raises(ModelError, match="holds no model that is known"):
        family_of(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"z_dim": 128}))
    assert family_of(tmp_path) == "biggan"
    (tmp_path / "config.json").write_text(json.dumps({"_class_name": "AutoencoderTiny"}))
    assert family_of(tmp_path) == "autoencoder"
    (tmp_path / "model_index.json").write_text("{}")
    assert family_of(tmp_path) == "text_to_image"


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ModelError, match="no folder"):
        add(tmp_path / "none", None, "imagenet", {})
