"""What is wrong with a classifier is said precisely, and before any search."""

import re

import pytest
import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.probe import probe
from foible.classifiers.load import load_classifier, probe_images
from foible.errors import ModelError


class Around(nn.Module):
    """The toy network with something in front and something behind."""

    def __init__(self, inner, before=lambda x: x, after=lambda s: s):
        super().__init__()
        self.inner, self.before, self.after = inner, before, after

    def forward(self, x):
        return self.after(self.inner(self.before(x)))


def lines_of(bars, real, module, **settings):
    images, labels = probe_images(real)
    classifier = AdaptedClassifier("m", module, bars.classes, **settings)
    return probe(classifier, images, labels, bars.classes)


def test_a_sound_classifier_has_nothing_wrong(files, bars, real):
    lines = lines_of(bars, real, files.module())
    assert [line.level for line in lines] == ["ok", "ok"]
    assert "100.0%" in lines[0].message
    assert "gradients, activations" in lines[1].message


@pytest.mark.parametrize(
    ("module", "says"),
    [
        (lambda net: Around(net, after=lambda s: s[:, :2]), r"scores of shape \(90, 2\), expected \(90, 3\)"),
        (lambda net: Around(net, after=lambda s: s * float("nan")), "NaN or infinite"),
        (lambda net: Around(net, after=lambda s: s * 0), "same scores for every image"),
        (lambda net: Around(net, after=lambda s: s.argmax(1)), "scores of shape"),
        (lambda net: Around(net, after=lambda s: s.long()), "expected floating-point"),
        (lambda net: Around(net, after=lambda s: s + torch.randn_like(s)), "other scores when asked again"),
        (lambda net: Around(net, before=lambda x: x - x.mean()), "alone than in a batch"),
        (lambda net: Around(net, after=lambda s: s.softmax(1)), "gives probabilities where logits"),
        (lambda net: Around(net, after=lambda s: s[:, [1, 2, 0]]), "classes in another order it is right on 100.0%"),
        (lambda net: Around(net, after=lambda s: torch.sin(1000 * s)), "right on only"),
        (lambda net: nn.Sequential(nn.Flatten(), nn.Linear(99, 3)), "cannot take 1x6x6 images"),
    ],
)
def test_what_is_wrong_is_named(files, bars, real, module, says):
    lines = lines_of(bars, real, module(files.module()))
    assert re.search(says, " ".join(line.message for line in lines))
    assert lines[-1].level in {"wrong", "warning"} and lines[-1].hint


def test_training_mode_is_seen(files, bars, real):
    classifier = AdaptedClassifier("m", files.module(), bars.classes)
    classifier.network.module.train()
    images, labels = probe_images(real)
    assert any("training mode" in line.message for line in probe(classifier, images, labels, bars.classes))


def test_permuted_order_names_the_classes_to_pass(files, bars, real):
    turned = Around(files.module(), after=lambda s: s[:, [1, 2, 0]])
    hint = lines_of(bars, real, turned)[-1].hint
    own = eval(hint.partition(" = ")[2])
    images, labels = probe_images(real)
    put_right = load_classifier(turned, domain=bars, classes=own)
    assert float((put_right(images).argmax(1) == labels).float().mean()) == 1.0


@pytest.mark.parametrize(
    ("before", "says"),
    [
        (lambda x: x / 255, "values 0 to 255"),
        (lambda x: (x + 1) / 2, "values -1 to 1"),
        (lambda x: 1 - x, "values 1 to 0"),
        (lambda x: x.mean(1, keepdim=True) if x.shape[1] == 3 else x[:, :0], "RGB"),
    ],
)
def test_conventions_are_found(files, bars, real, before, says):
    sharp = files.module()
    module = Around(sharp, before, lambda s: s + 8 * (s.max(1, keepdim=True).values < -8) * s.roll(1, 1))
    classifier = load_classifier(module, domain=bars)
    images, labels = probe_images(real)
    assert says in classifier.notes[0]
    assert float((classifier(images).argmax(1) == labels).float().mean()) > 0.9


def test_what_cannot_be_told_apart_is_said(files, bars):
    note = load_classifier(nn.Sequential(nn.AvgPool2d((6, 2)), nn.Flatten()), domain=bars).notes[0]
    assert "values 0 to 1 (tried" in note and "cannot be told from" in note


def test_what_is_said_is_not_probed(files, bars):
    classifier = load_classifier(files.module(), domain=bars, mean=0.5, std=[0.5])
    assert "as you say" in classifier.notes[0] and classifier.preprocessing.mean == (0.5,)


def test_other_sizes_are_tried(bars, files):
    note = load_classifier(nn.Sequential(nn.AvgPool2d(8), nn.Flatten(), nn.Linear(16, 3)), domain=bars).notes[0]
    assert "32x32" in note


def test_a_model_that_takes_no_such_image_is_refused(bars):
    with pytest.raises(ModelError, match="cannot take images of the domain, 1x6x6"):
        load_classifier(nn.Sequential(nn.Flatten(), nn.Linear(7, 3)), domain=bars)


def test_wrong_number_of_scores_is_refused(bars):
    with pytest.raises(ModelError, match="gave 5 scores, the domain 'bars' has 3 classes"):
        load_classifier(nn.Sequential(nn.Flatten(), nn.Linear(36, 5)), domain=bars)


@pytest.mark.parametrize("kind", ["probabilities", "log-probabilities"])
def test_output_is_seen(files, bars, kind):
    behind = {"probabilities": lambda s: s.softmax(1), "log-probabilities": lambda s: s.log_softmax(1)}[kind]
    classifier = load_classifier(Around(files.module(), after=behind), domain=bars)
    assert classifier.output == kind and f"output: {kind} (seen)" in classifier.notes
