"""Every kind of file gives the same scores for the same weights, and refuses what it cannot be."""

import pickle
import zipfile

import pytest
import torch

from foible.classifiers.load import load_classifier
from foible.digest import sha256
from foible.errors import FoibleError, MissingExtra, ModelError
from foible.types import Capability

MEANS = torch.nn.Sequential(torch.nn.AvgPool2d((6, 2)), torch.nn.Flatten())
TOLERANCE = 1e-4  # between formats, in logits that run from 0 to -32
GRADIENT, ACTIVATIONS = Capability.GRADIENT, Capability.ACTIVATIONS
KINDS = {
    ".pt": {GRADIENT},
    ".pt2": {GRADIENT, ACTIVATIONS},
    ".onnx": {ACTIVATIONS},
    ".safetensors": {GRADIENT, ACTIVATIONS},
    ".pth": {GRADIENT, ACTIVATIONS},
    ".py": set(),
}


def load(files, bars, suffix, **settings):
    if suffix in {".pt", ".pt2", ".jit"}:
        settings = {"untrusted": False, **settings}  # the sandbox has tests of its own
    if suffix in {".safetensors", ".pth"}:
        settings = {"factory": files.factory, **settings}
    return load_classifier(files.function if suffix == ".py" else files.path(suffix), domain=bars, **settings)


@pytest.mark.parametrize("suffix", KINDS)
def test_same_weights_same_scores(files, bars, real, suffix):
    classifier = load(files, bars, suffix)
    images = real.images(torch.arange(0, 90, 7))
    expected = files.module()(images).detach()
    assert float((classifier(images) - expected).abs().max()) < TOLERANCE
    assert classifier.offers == KINDS[suffix]
    assert classifier.classes == bars.classes
    assert next(iter(classifier.digests.values())) == sha256(files.folder / next(iter(classifier.digests)))
    if GRADIENT in classifier.offers:
        images.requires_grad_()
        classifier(images).sum().backward()
        assert float(images.grad.abs().sum()) > 0
    if ACTIVATIONS in classifier.offers:
        layer = next(name for name in classifier.layers() if "average" in name or "conv" in name.lower())
        logits, seen = classifier.inspect(images.detach(), [layer])
        assert torch.allclose(logits, expected, atol=TOLERANCE)
        assert torch.allclose(
            seen[layer].flatten(1), images.detach().mean((1, 2)).unflatten(1, (3, 2)).mean(2), atol=1e-5
        )
        with pytest.raises(ModelError, match="no layer 'nowhere'"):
            classifier.inspect(images.detach(), ["nowhere"])
    else:
        assert classifier.layers() == ()
        with pytest.raises(ModelError, match="no activations"):
            classifier.inspect(images.detach(), ["average"])


def test_float_and_quantised_side_by_side(files, bars, real, tmp_path):
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 3)).eval()
    with torch.no_grad():
        network[1].weight.copy_(_bar_weights())
        network[1].bias.zero_()
    path = files.path(".onnx", network, "linear")
    quantised = tmp_path / "linear-int8.onnx"
    proto = onnx.load(path)
    del proto.graph.value_info[:]  # the quantiser infers shapes anew and trips over the exporter's
    quantize_dynamic(proto, quantised, weight_type=QuantType.QInt8, reduce_range=True)
    pair = [load_classifier(p, domain=bars, range=(0, 1)) for p in (path, quantised)]
    assert pair[0].classes == pair[1].classes and pair[0].name != pair[1].name
    images = real.images(torch.arange(90))
    first, second = (c(images) for c in pair)
    assert not torch.equal(first, second)
    assert float((first.argmax(1) == second.argmax(1)).float().mean()) >= 0.98


def _bar_weights():
    weights = torch.zeros(3, 6, 6)
    for k in range(3):
        weights[k, :, 2 * k : 2 * k + 2] = 3.0
    return weights.flatten(1)


def test_fixed_batch_and_channels_last_input(bars, real, files, tmp_path):
    path = tmp_path / "one.pt2"
    torch.export.save(torch.export.export(files.module(), (torch.rand(1, 1, 6, 6),)), path)
    classifier = load_classifier(path, domain=bars, range=(0, 1), untrusted=False)
    assert classifier.network.facts.batch == 1
    images = real.images(torch.arange(5))
    assert torch.allclose(classifier(images), files.module()(images), atol=TOLERANCE)


def test_live_module_and_live_function(files, bars, real):
    images = real.images(torch.arange(6))
    module = load_classifier(files.module(), domain=bars)
    function = load_classifier(lambda x: files.module()(torch.from_numpy(x).permute(0, 3, 1, 2)).detach(), domain=bars)
    assert torch.allclose(module(images), function(images), atol=TOLERANCE)
    assert "classifier object Bars" in module.digests


def test_classes_in_another_order_are_put_right_by_name(files, bars, real):
    class Turned(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x)[:, [2, 0, 1]]

    images = real.images(torch.arange(6))
    own = tuple(bars.classes[i] for i in (2, 0, 1))
    classifier = load_classifier(Turned(files.module()), domain=bars, classes=own)
    assert torch.allclose(classifier(images), files.module()(images))
    assert any("by name" in note for note in classifier.notes)


class Evil:
    def __reduce__(self):
        return (open, ("evil-was-here", "w"))


@pytest.fixture
def hostile(tmp_path, monkeypatch, files):
    """Files that must be refused before anything reads them, by name."""
    monkeypatch.chdir(tmp_path)
    whole = open(files.path(".pt"), "rb").read()  # noqa: PTH123, SIM115
    (tmp_path / "empty.pt").touch()
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "truncated.pt").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "truncated.onnx").write_bytes(b"\x08\x07\x12\xff\xff")
    (tmp_path / "truncated.safetensors").write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00{}")
    (tmp_path / "text.pt").write_text("not a model")
    (tmp_path / "evil.pkl").write_bytes(pickle.dumps(Evil()))
    torch.save(Evil(), tmp_path / "evil.pt")
    torch.save(MEANS, tmp_path / "whole.pt")
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb/code/x.py", b"0" * (65 << 20))
    with zipfile.ZipFile(tmp_path / "climbing.pt2", "w") as archive:
        archive.writestr("../../climbing/archive_format", "pt2")
    with zipfile.ZipFile(tmp_path / "native.pt2", "w") as archive:
        archive.writestr("m/archive_format", "pt2")
        archive.writestr("m/data/aotinductor/model/x.so", "machine code")
    return tmp_path


@pytest.mark.parametrize("untrusted", [False, True])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("empty.pt", "empty"),
        ("empty.onnx", "empty"),
        ("truncated.pt", "truncated or damaged"),
        ("text.pt", "not a file written by torch"),
        ("evil.pkl", "that may run any code"),
        ("evil.pt", "that may run any code"),
        ("whole.pt", r"saved with torch\.save\(model\) that may run any code"),
        ("bomb.pt", "unpack to"),
        ("climbing.pt2", "climbs out"),
        ("native.pt2", "native code"),
        ("missing.onnx", "no model file"),
    ],
)
def test_hostile_files_are_refused_before_they_are_opened(hostile, bars, name, says, untrusted):
    before = sorted(hostile.iterdir())
    with pytest.raises(ModelError, match=says) as refusal:
        load_classifier(hostile / name, domain=bars, untrusted=untrusted)
    assert refusal.value.hint
    assert sorted(hostile.iterdir()) == before


@pytest.mark.parametrize("name", ["truncated.onnx", "truncated.safetensors"])
def test_truncated_files_are_named(hostile, bars, files, name):
    settings = {"factory": files.factory} if name.endswith("safetensors") else {}
    with pytest.raises(ModelError, match=name):
        load_classifier(hostile / name, domain=bars, **settings)


def test_pickled_code_hidden_in_an_exported_program_does_not_run(files, bars, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save(Evil(), tmp_path / "evil")
    with zipfile.ZipFile(files.path(".pt2")) as old, zipfile.ZipFile(tmp_path / "evil.pt2", "w") as new:
        for member in old.infolist():
            sample = member.filename.endswith("sample_inputs/model.pt")
            new.writestr(member, (tmp_path / "evil").read_bytes() if sample else old.read(member))
    with pytest.raises(ModelError, match=r"evil\.pt2"):
        load_classifier(tmp_path / "evil.pt2", domain=bars, untrusted=False)
    assert not (tmp_path / "evil-was-here").exists()


def test_pickles_load_when_the_user_says_so(hostile, bars, real, files):
    classifier = load_classifier(hostile / "whole.pt", domain=bars, pickles=True, untrusted=False)
    images = real.images(torch.arange(4))
    assert torch.allclose(classifier(images), MEANS(images))


@pytest.mark.parametrize(
    ("reference", "settings", "says"),
    [
        ("model.tflite", {}, "no model foible knows"),
        ("net.py:make", {"speed": 3}, "no parameter 'speed'"),
        ("bars.pt", {"limits": {"memory": 3}}, "no limit called 'memory'"),
        ("bars.pth", {"factory": "net.py:missing"}, "has no 'missing'"),
        ("bars.pth", {"factory": "nothing"}, "neither file.py:name"),
        ("bars.pt", {"factory": "net.py:make"}, "holds TorchScript, not a state dict"),
        ("bars.safetensors", {}, "which network"),
        ("bars.pt", {"range": (1, 2, 3)}, "expected two numbers"),
        ("onnx", {}, "needs path"),
    ],
)
def test_wrong_usage_is_named(files, bars, monkeypatch, reference, settings, says):
    monkeypatch.chdir(files.folder)
    for suffix in (".pt", ".pth", ".safetensors"):
        files.path(suffix)
    with pytest.raises(FoibleError, match=says):
        load_classifier(reference, domain=bars, **settings)


def test_missing_package_gives_the_install_line(files, bars, monkeypatch):
    path = files.path(".onnx")
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(MissingExtra) as missing:
        load_classifier(path, domain=bars)
    assert "foible[onnx]" in missing.value.hint
