import shutil
import tomllib
from pathlib import Path

import pytest
import tomli_w
import torch
from PIL import Image

from foible.domains import load_domain, real_images
from foible.records import Verdict
from foible.testing.toys import ToyClassifier, ToyEncoder, ToyGenerator, write_toy_images
from foible.training.appraise import appraise, decode_milliseconds, share_recognised
from foible.training.judged import share_valid
from foible.training.samples import made_beside_real
from foible.training.sheet import contact_sheet
from foible.training.train import TrainingRecipe, train
from foible.zoo.catalogue import entry


@pytest.fixture
def toys(tmp_path):
    return real_images(load_domain(write_toy_images(tmp_path / "toys", per_class=10)))


@pytest.mark.parametrize("make", [ToyGenerator, ToyEncoder])
def test_made_images_have_the_classes_of_the_real_ones(make, toys):
    pairs = list(made_beside_real(make(), toys, most=12))
    assert sum(len(p.labels) for p in pairs) == 12
    assert share_recognised([ToyClassifier()], pairs) == 1.0


def test_an_encoder_is_judged_on_reconstructions(toys):
    pair = next(made_beside_real(ToyEncoder(), toys, most=12))
    assert torch.allclose(pair.made, pair.real, atol=0.02)


def test_a_mean_vote_decides(toys):
    class Contrary(ToyClassifier):
        def __call__(self, images):
            return -3 * super().__call__(images)

    pairs = list(made_beside_real(ToyEncoder(), toys, most=12))
    assert share_recognised([ToyClassifier(), ToyClassifier(), Contrary()], pairs) == 1.0
    assert share_recognised([Contrary()], pairs) == 0.0


def test_the_judge_has_the_last_word_on_origins(toys):
    class Strict:
        name = "strict"

        def __call__(self, images, labels):
            return [(Verdict("strict", bool(y == 0), 0.5), Verdict("strict", True, 0.5, "label")) for y in labels]

    assert share_valid(Strict(), list(made_beside_real(ToyEncoder(), toys, most=30))) == pytest.approx(1 / 3)


def test_a_generator_that_starts_from_samples_is_also_asked_for_real_images(toys):
    class Both(ToyEncoder):
        prefers = "sampled"

    (sampled,), (again,) = (list(made_beside_real(Both(), toys, most=12, reconstruct=r)) for r in (None, True))
    assert torch.allclose(again.made, again.real, atol=0.02) and not torch.allclose(sampled.made, again.made, atol=0.02)


def test_decoding_takes_time():
    assert decode_milliseconds(ToyGenerator(), 3) > 0


def test_appraisal_goes_into_the_card(tmp_path):
    root = write_toy_images(tmp_path / "toys", per_class=30)
    network, fit = {"hidden": 16, "latent": 3}, {"epochs": 1, "batch": 16}
    path = tmp_path / "own.safetensors"
    train(TrainingRecipe(family="vae", domain=str(root), network=network, fit=fit), path)
    appraise(path, data=root, images=10)
    card = tomllib.loads(path.with_suffix(".toml").read_text())
    assert card["figures"]["latent_size"] == 3 and card["figures"]["decode_ms"] > 0
    assert card["figures"]["latent_range"] > card["figures"]["latent_step"] > 0
    assert "pixel_error" in card["figures"] and card["measured"]["images"] == 10
    assert "fid" not in card["figures"]  # no classifier of the zoo knows this domain, so nothing may judge


def test_a_teacher_has_no_say_in_the_figures_of_its_pupil(tmp_path):
    path = Path(shutil.copy(entry("mnist-gan").path(), tmp_path))
    card = tomllib.loads(entry("mnist-gan").path().with_suffix(".toml").read_text())
    card["recipe"]["network"]["teacher"] = {"use": "mnist-reference-residual", "layers": []}
    path.with_suffix(".toml").write_text(tomli_w.dumps(card))
    appraisal = appraise(path, images=20)
    measured = appraisal.measured
    assert 0 < appraisal.figures["judged_valid"] <= 1 and measured["judge"].startswith("mnist-judge (sha256 ")
    assert measured["references"] == ["mnist-reference-convolutional", "mnist-reference-separable"]
    assert "residual" not in measured["extractor"]


def test_a_contact_sheet_has_a_row_per_class(tmp_path, toys):
    sheet = contact_sheet(ToyGenerator(), 3, tmp_path / "sheet.png", columns=5)
    assert Image.open(sheet).size == (5 * 8 - 2, 3 * 8 - 2)
    assert Image.open(contact_sheet(ToyEncoder(), 3, tmp_path / "real.png", 4, toys)).size == (4 * 8 - 2, 3 * 8 - 2)
