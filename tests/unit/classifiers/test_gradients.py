"""Gradients and activations through the one adaptor: against finite differences, and against hooks set by hand."""

import pytest
import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.load import load_classifier
from foible.classifiers.network import ModuleNetwork
from foible.errors import ModelError
from foible.faces import Inspectable
from foible.types import Capability

CLASSES = ("a", "b", "c")
SHAPES = {
    "as they are": Preprocessing(dtype="float64"),
    "normalised": Preprocessing(mean=(0.3,), std=(0.2,), dtype="float64"),
    "range, size and channels": Preprocessing(channels=3, size=(8, 8), range=(0.0, 255.0), dtype="float64"),
    "inverted, channels last": Preprocessing(range=(1.0, 0.0), layout="nhwc", dtype="float64"),
}


class Net(nn.Module):
    def __init__(self, preprocessing):
        super().__init__()
        self.last = preprocessing.layout == "nhwc"
        self.scale = 1 / 255 if preprocessing.range[1] == 255 else 1
        self.convolution = nn.Conv2d(preprocessing.channels or 1, 4, 3)
        self.softplus = nn.Softplus()
        self.inplace = nn.Hardtanh(-50, 50, inplace=True)
        self.head = nn.Linear(4 * ((preprocessing.size or (6, 6))[0] - 2) ** 2, 3)

    def forward(self, x):
        x = x.permute(0, 3, 1, 2) if self.last else x
        return self.head(self.inplace(self.softplus(self.convolution(x * self.scale))).flatten(1))


def some(count=3):
    return torch.rand(count, 1, 6, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def differences(function, images, step=1e-6):
    """Central differences of a sum over independent rows, one pixel at a time."""
    gradient = torch.zeros_like(images)
    for index in range(images[0].numel()):
        up, down = images.clone(), images.clone()
        up.flatten(1)[:, index] += step
        down.flatten(1)[:, index] -= step
        gradient.flatten(1)[:, index] = (function(up) - function(down)) / (2 * step)
    return gradient


@pytest.mark.parametrize("output", ["logits", "probabilities"])
@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_equals_finite_differences(shape, output):
    torch.manual_seed(0)
    net = Net(SHAPES[shape]).double()
    module = net if output == "logits" else nn.Sequential(net, nn.Softmax(1))
    classifier = AdaptedClassifier("net", module, CLASSES[:2], SHAPES[shape], output, columns=(2, 0))
    images = some().requires_grad_()
    logits = classifier(images)
    assert logits.dtype == torch.float64 and tuple(logits.shape) == (3, 2)
    (gradient,) = torch.autograd.grad(logits[:, 0].sum(), images)
    with torch.no_grad():
        expected = differences(lambda x: classifier(x)[:, 0], images.detach())
    assert float(expected.abs().max()) > 0
    assert torch.allclose(gradient, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("suffix", [".pt", ".pt2", ".safetensors", ".pth"])
def test_gradient_of_every_local_kind(files, bars, suffix):
    """The toy network is linear away from its kinks, so that a float32 difference over a large step is exact enough."""
    settings = {"factory": files.factory} if suffix in {".safetensors", ".pth"} else {}
    classifier = load_classifier(files.path(suffix), domain=bars, range=(0, 1), **settings)
    assert Capability.GRADIENT in classifier.offers
    images = torch.full((2, 1, 6, 6), 0.25).requires_grad_()
    (gradient,) = torch.autograd.grad(classifier(images)[:, 1].sum(), images)
    with torch.no_grad():
        expected = differences(lambda x: classifier(x)[:, 1], images.detach(), step=0.125)
    assert torch.allclose(gradient, expected, atol=1e-3) and float(gradient.abs().max()) > 1
    with torch.no_grad():
        assert not classifier(images).requires_grad
    if hasattr(classifier.network, "module"):
        assert not any(p.requires_grad for p in classifier.network.module.parameters())


def test_gradient_through_a_fixed_batch(bars, files, tmp_path):
    path = tmp_path / "two.pt2"
    torch.export.save(torch.export.export(files.module(), (torch.rand(2, 1, 6, 6),)), path)
    classifier = load_classifier(path, domain=bars, range=(0, 1))
    images = torch.rand(5, 1, 6, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    logits, seen = classifier.inspect(images, ["average"])
    assert torch.equal(logits, classifier(images)) and tuple(seen["average"].shape) == (5, 1, 1, 3)
    (gradient,) = torch.autograd.grad(logits.sum(), images)
    (expected,) = torch.autograd.grad(files.module()(images).sum(), images)
    assert torch.allclose(gradient, expected, atol=1e-5)


@pytest.mark.parametrize("suffix", [".onnx", ".py"])
def test_kinds_without_gradients_say_so(files, bars, suffix):
    classifier = load_classifier(files.function if suffix == ".py" else files.path(suffix), domain=bars)
    assert Capability.GRADIENT not in classifier.offers


@pytest.mark.parametrize("cut", [torch.Tensor.detach, torch.round, lambda x: torch.from_numpy(x.detach().numpy())])
def test_a_module_that_cuts_gradients_does_not_offer_them(files, bars, cut):
    class Cut(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = files.module()

        def forward(self, x):
            return self.inner(cut(x * 255) / 255)

    classifier = load_classifier(Cut(), domain=bars, range=(0, 1))
    flows = cut is torch.round  # torch gives rounding a gradient, of nought
    assert (Capability.GRADIENT in classifier.offers) == flows
    assert any(note.startswith("gradients: none") for note in classifier.notes) != flows


def test_rounding_to_bytes_has_no_gradient():
    classifier = AdaptedClassifier("net", nn.Flatten(), CLASSES, Preprocessing(range=(0, 255), dtype="uint8"))
    assert classifier.offers == {Capability.ACTIVATIONS}


def test_activations_equal_hooks_by_hand_and_share_the_graph():
    torch.manual_seed(0)
    shape = SHAPES["normalised"]
    net = Net(shape).double()
    classifier = AdaptedClassifier("net", net, CLASSES, shape)
    assert isinstance(classifier, Inspectable)
    assert classifier.layers() == ("convolution", "softplus", "inplace", "head")
    images = some().requires_grad_()
    logits, seen = classifier.inspect(images, ["softplus", "convolution"])
    assert list(seen) == ["softplus", "convolution"]
    convolved = net.convolution((images - 0.3) / 0.2)
    assert torch.equal(seen["convolution"], convolved)
    assert torch.equal(seen["softplus"], net.softplus(convolved))  # though the next layer works in place
    assert torch.equal(logits, classifier(images))
    assert not net.convolution._forward_hooks
    for value in (logits[:, 0].sum(), seen["softplus"].square().sum()):
        torch.autograd.grad(value, images, retain_graph=True)  # both hang on one graph


def test_unknown_and_silent_layers_are_named():
    class Silent(nn.Module):
        def __init__(self):
            super().__init__()
            self.flatten, self.unused = nn.Flatten(), nn.Linear(2, 2)

        def forward(self, x):
            return self.flatten(x)

    classifier = AdaptedClassifier("silent", Silent(), CLASSES)
    images = torch.rand(2, 1, 1, 3)
    with pytest.raises(ModelError, match="no layer 'flaten'") as refusal:
        classifier.inspect(images, ["flaten"])
    assert "did you mean 'flatten'?" in refusal.value.hint
    with pytest.raises(ModelError, match="layer 'unused' gave no tensor"):
        classifier.inspect(images, ["unused"])


def test_a_network_may_be_handed_on():
    first = AdaptedClassifier("one", nn.Flatten(), CLASSES)
    second = AdaptedClassifier("two", first.network, CLASSES)
    assert isinstance(second.network, ModuleNetwork) and second.network is first.network
