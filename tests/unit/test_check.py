"""What is wrong is said before the first image, with its likely cause."""

import re
import sys

import pytest
import torch
from torch import nn

import foible
from foible.errors import CheckError
from foible.testing.toys import ToyClassifier, ToyEncoder, toy_recipe


class Altered(ToyClassifier):
    """The toy classifier behind a change of its input or output."""

    def __init__(self, before=lambda x: x, after=lambda s: s, classes=None):
        super().__init__("altered")
        self.before, self.after = before, after
        if classes:
            self.classes = classes

    def __call__(self, images):
        return self.after(super().__call__(self.before(images)))


def wrong(toy_images, **parts):
    checkup = foible.check(toy_recipe(toy_images), **parts)
    return " | ".join(f"{line.message} ({line.hint})" for line in checkup.wrong)


def test_all_is_well(toy_images):
    checkup = foible.check(toy_recipe(toy_images))
    assert not checkup.wrong
    assert {line.about for line in checkup.lines} >= {"generator", "data", "accuracy", "origins"}


def test_models_are_named_as_in_a_recipe(toy_images):
    plain = {**toy_recipe(toy_images), "generator": "mnist-gan", "classifier": "mnist-deepconv"}
    named = {name: toy_recipe(toy_images)[name] for name in ("generator", "classifier")}
    assert not foible.check(plain, **named).wrong
    assert not foible.check(plain, generator={"use": named["generator"]}, classifier=ToyClassifier()).wrong


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (Altered(classes=("a", "b")), "has 2 classes, the domain has 3"),
        (Altered(after=lambda s: s[:, :2]), r"gave scores of shape \(12, 2\), expected \(12, 3\)"),
        (Altered(after=lambda s: s[0]), "gave scores of shape"),
        (Altered(after=lambda s: s * torch.nan), "gives NaN or infinite scores"),
        (Altered(after=lambda s: s * 0), "gives the same scores for every image"),
        (Altered(after=lambda s: s + torch.rand(1)), "gives other scores when asked again"),
        (Altered(after=lambda s: s.softmax(1)), "gives probabilities where logits are expected"),
        (Altered(after=lambda s: s - s.mean(0)), "gives an image other scores alone than in a batch"),
        (Altered(after=lambda s: s[:, [1, 2, 0]]), "with its classes in another order it is right on 100"),
        (Altered(before=lambda x: x[..., :5]), "cannot take 1x6x6 images"),
        (Altered(after=lambda s: (s.argmin(1)[:, None] == torch.arange(3)).float() * 5), "is right on only 0.0%"),
    ],
)
def test_a_classifier_that_cannot_be_tested(toy_images, classifier, message):
    assert re.search(message, wrong(toy_images, classifier=classifier))


def test_the_likely_cause_is_named(toy_images):
    """A net that expects 0..255 sees almost black images; the check tries the usual conventions and names the one."""

    def wants_bytes(x):
        always_left = torch.linspace(1, 0, 6).expand_as(x) + x / 1000
        return torch.where(x.amax((1, 2, 3), keepdim=True) > 2, x / 255, always_left)

    assert re.search(r"with .*255.* it is right on 100", wrong(toy_images, classifier=Altered(before=wants_bytes)))


def test_a_module_in_training_mode(toy_images):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.toy = ToyClassifier()

        def forward(self, images):
            return self.toy(images)

    network = Network()
    assert not foible.check(toy_recipe(toy_images), classifier=network).wrong, "a bare module is put in evaluation mode"


class Shifted(ToyEncoder):
    def decode(self, latents, labels):
        return 2 * super().decode(latents, labels) - 1


class Noisy(ToyEncoder):
    def decode(self, latents, labels):
        return (super().decode(latents, labels) + 0.01 * torch.rand(1)).clamp(0, 1)


class Wide(ToyEncoder):
    shape = (1, 6, 7)


class Blank(ToyEncoder):
    def decode(self, latents, labels):
        images = super().decode(latents, labels)
        images[..., :2] = 0.5
        images[..., 2:] = 0.6
        return images


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        (Shifted(), "images are in [0, 1]"),
        (Noisy(), "gives another image for the same latent"),
        (Wide(), "makes images of shape (1, 6, 7)"),
    ],
)
def test_a_generator_that_cannot_be_used(toy_images, generator, message):
    assert message in wrong(toy_images, generator=generator)


def test_a_budget_that_is_too_small_for_one_round(toy_images):
    checkup = foible.check(toy_recipe(toy_images), **{"budget.evaluations": 10})
    assert "asks for 25 evaluations at once, the budget is 10" in checkup.wrong[0].message


def test_a_run_does_not_begin_when_something_is_wrong(toy_images, tmp_path):
    with pytest.raises(CheckError, match="same scores for every image"):
        foible.run(toy_recipe(toy_images), tmp_path / "run", classifier=Altered(after=lambda s: s * 0))
    assert not (tmp_path / "run").exists(), "nothing is left behind"


@pytest.mark.parametrize(("wrong", "made"), [(0, 8), (4, 16)])
def test_of_large_images_a_few_are_made_until_half_are_recognised(toy_images, monkeypatch, wrong, made):
    class Counted(ToyEncoder):
        rows = 0

        def decode(self, latents, labels):
            self.rows += len(latents)
            images = super().decode(latents, labels)
            return 1 - images if self.rows <= wrong else images

    module = sys.modules["foible.campaign.check"]  # the package has a function of that name
    monkeypatch.setattr(module, "worth_a_look", lambda _shape, most: min(most, 20))
    generator = Counted()
    origins = [line.message for line in foible.check(toy_recipe(toy_images), generator=generator).lines][-1]
    assert generator.rows == made and f"of {4 + wrong} images" in origins
