"""Compressed versions of a small network: what changes, by how much, and that images do not influence each other."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.networks.lenet import lenet5
from foible.classifiers.variants import classifier_variant, variant, variant_kinds
from foible.errors import DataError, RecipeError

SHAPE = (1, 28, 28)
NAMES = tuple("0123456789")


@pytest.fixture
def network() -> nn.Module:
    torch.manual_seed(3)
    return lenet5(SHAPE, 10).eval()


@pytest.fixture
def images() -> torch.Tensor:
    return torch.rand(12, *SHAPE, generator=torch.Generator().manual_seed(1))


def test_int8_weights_by_hand() -> None:
    layer = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.27, 0.014, -0.006], [0.0, 254.0, 1.2]]))
    made = variant(nn.Sequential(layer), "int8-weights")[0].weight  # type: ignore[index]
    assert made.flatten().tolist() == pytest.approx([1.27, 0.01, -0.01, 0.0, 254.0, 2.0], rel=1e-5)


def test_int8_inputs_by_hand() -> None:
    layer = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.27, 1.27]]))
    made = variant(nn.Sequential(layer), "int8")
    assert made(torch.tensor([[1.27, 0.014]])).item() == pytest.approx(1.27 * (1.27 + 0.01), rel=1e-5)


def test_pruning_by_hand() -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 1)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[5.0, -0.1], [3.0, 0.2]]))
        second.weight.copy_(torch.tensor([[-4.0, 0.3]]))
    made = variant(nn.Sequential(first, second), "pruned", share=0.5)
    assert made[0].weight.tolist() == [[5, 0], [3, 0]] and made[1].weight.tolist() == [[-4, 0]]  # type: ignore[index]


@pytest.mark.parametrize("memory", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("kind", variant_kinds())
def test_a_variant_is_near_but_not_the_same(
    kind: str, memory: torch.memory_format, network: nn.Module, images: torch.Tensor
) -> None:
    network.to(memory_format=memory)  # as the zoo's classifiers are loaded
    before = {name: value.clone() for name, value in network.state_dict().items()}
    with torch.no_grad():
        whole, made = network(images), variant(network, kind, share=0.1)(images)
        gap = (whole - made).abs().max()
    assert 0 < gap < 0.1 * whole.abs().max(), "near, and not the same"
    assert made.dtype == torch.float32
    assert all(value.equal(before[name]) for name, value in network.state_dict().items()), "the original is untouched"


@pytest.mark.parametrize("kind", ["int8", "int8-weights", "float16"])
def test_what_is_said_of_an_image_does_not_depend_on_the_batch(
    kind: str, network: nn.Module, images: torch.Tensor
) -> None:
    made = variant(network, kind)
    louder = torch.cat([images[:1], 50 * images[1:]])
    with torch.no_grad():
        assert torch.allclose(made(images)[0], made(louder)[0], rtol=1e-4, atol=1e-3 if kind == "float16" else 1e-5)


def test_rounding_twice_changes_nothing(network: nn.Module) -> None:
    for kind in ("int8-weights", "float16-weights", "pruned"):
        once = variant(network, kind)
        twice = variant(once, kind)
        pairs = zip(once.parameters(), twice.parameters(), strict=True)
        assert all(torch.allclose(a, b, rtol=1e-6) for a, b in pairs)


def test_a_classifier_keeps_preprocessing_and_classes(network: nn.Module, images: torch.Tensor) -> None:
    whole = AdaptedClassifier("net", network, NAMES, Preprocessing(mean=(0.5,), std=(0.25,)))
    made = classifier_variant(whole, "int8-weights")
    assert (made.name, made.classes) == ("net-int8-weights", NAMES)
    assert torch.allclose(made(images), whole(images), atol=0.05)


def test_bad_variants_are_named(network: nn.Module) -> None:
    with pytest.raises(RecipeError, match="no model variant 'int9'"):
        variant(network, "int9")
    with pytest.raises(RecipeError, match=r"share 1\.5"):
        variant(network, "pruned", share=1.5)
    with pytest.raises(RecipeError, match="no convolution or linear layer"):
        variant(nn.ReLU(), "int8")


def test_onnx_files_say_nearly_the_same(network: nn.Module, images: torch.Tensor, tmp_path) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    from foible.classifiers.kinds.onnx import OnnxNetwork
    from foible.classifiers.onnx_variants import to_onnx, to_onnx_int8

    whole = AdaptedClassifier("net", network, NAMES, Preprocessing(mean=(0.5,), std=(0.25,)))
    same = OnnxNetwork(str(to_onnx(whole, SHAPE, tmp_path / "net.onnx")))
    small = OnnxNetwork(str(to_onnx_int8(whole, images, tmp_path / "net8.onnx")))
    assert (tmp_path / "net8.onnx").stat().st_size < 0.5 * (tmp_path / "net.onnx").stat().st_size
    scores = whole(images)
    assert torch.allclose(same(images), scores, atol=1e-4)
    gap = (small(images) - scores).abs().max()
    assert 1e-5 < gap < 0.2 * scores.abs().max()
    assert torch.allclose(small(images)[:1], small(images[:1]), atol=1e-5), "fixed scales: no influence of the batch"
    with pytest.raises(DataError, match="none were given"):
        to_onnx_int8(whole, images[:0], tmp_path / "none.onnx")
