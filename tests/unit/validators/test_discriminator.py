"""The discriminator of a GAN as a validator, on a tiny one made here."""

import numpy as np
import pytest
import torch

from foible.domains import Domain
from foible.domains.images import ImageArray
from foible.errors import RecipeError
from foible.registry import build
from foible.testing.contracts import ValidatorContract
from foible.validators.discriminator import Discriminator
from foible.validators.reconstruction import Reconstruction
from foible.zoo.files import save_model

BARS = Domain(name="bars", shape=(1, 8, 8), classes=("left", "middle", "right"))


@pytest.fixture(scope="module")
def gan(tmp_path_factory):
    """A GAN that knows nothing, in a file."""
    path = tmp_path_factory.mktemp("gan") / "tiny.safetensors"
    with torch.random.fork_rng():
        torch.manual_seed(0)
        learner = build("learners", "gan", {"domain": BARS, "latent": 4, "widths": [8, 4], "judge_widths": [4, 8]})
        save_model(path, learner.header(), learner.tensors(None))
    return str(path)


@pytest.fixture(scope="module")
def real():
    pixels = np.random.default_rng(0).integers(0, 256, (60, 1, 8, 8), dtype=np.uint8)
    return ImageArray("bars", pixels, torch.arange(60) % 3)


class TestDiscriminator(ValidatorContract):
    shape, classes = (1, 8, 8), 3

    @pytest.fixture(autouse=True)
    def _made(self, gan, real):
        self.make = lambda: Discriminator(BARS, real, use=gan)


def test_a_score_is_the_share_of_real_images_that_look_less_real(gan, real):
    validator = Discriminator(BARS, real, use=gan)
    images, labels = real.images(torch.arange(60)), real.labels
    best = validator.raw(images, labels).argmax()
    assert validator.score(images[best][None], labels[best][None]).item() == pytest.approx(60 / 61, abs=0.02)
    assert sum(v.accepted for (v,) in validator(images, labels)) >= 58, "the threshold turns away 2 % of real images"
    assert validator.digests and next(iter(validator.digests)) == "tiny.safetensors"


def test_what_has_no_discriminator_or_no_encoder_is_refused(gan, real):
    with pytest.raises(RecipeError, match="has no discriminator"):
        Discriminator(BARS, real, use="mnist-vae")
    with pytest.raises(RecipeError, match="cannot encode"):
        Reconstruction(BARS, real, use=gan)
