"""Models by name, with weights made here: random features, and a head fitted to the toy images."""

import json
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from foible.classifiers.load import load_classifier, probe_images
from foible.domains.library import import_torchvision
from foible.errors import ModelError, RecipeError
from tests.model_files import fitted

pytestmark = pytest.mark.skipif(not all(map(find_spec, ("timm", "transformers"))), reason="needs foible[hub]")


def accuracy(classifier, real):
    images, labels = probe_images(real)
    return float((classifier(images).argmax(1) == labels).float().mean())


def rgb(images):
    return images.expand(-1, 3, -1, -1)


def test_timm_with_own_weights(bars, real, tmp_path):
    import_torchvision()
    import timm

    module = timm.create_model("test_resnet", num_classes=3, in_chans=1)
    fitted(module, module.fc, real, module, lambda x: x)
    save_file(module.state_dict(), tmp_path / "w.safetensors")
    classifier = load_classifier("timm:test_resnet", domain=bars, weights=str(tmp_path / "w.safetensors"))
    assert accuracy(classifier, real) > 0.95
    assert classifier.network.facts.channels == 1
    assert "w.safetensors" in classifier.digests and "layer1" in classifier.layers()


def test_torchvision_with_own_weights(bars, real, tmp_path):
    models = import_torchvision().models
    module = models.get_model("shufflenet_v2_x0_5", weights=None, num_classes=3)
    fitted(module, module.fc, real, module, rgb)
    torch.save(module.state_dict(), tmp_path / "w.pth")
    classifier = load_classifier("torchvision:shufflenet_v2_x0_5", domain=bars, weights=str(tmp_path / "w.pth"))
    assert accuracy(classifier, real) > 0.95 and "RGB" in classifier.notes[0]


def test_hugging_face_folder(bars, real, tmp_path):
    import_torchvision()
    from transformers import ViTConfig, ViTForImageClassification

    own = ("right", "left", "middle")  # another order than the domain's: put right by name
    config = ViTConfig(
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=12,
        patch_size=6,
        num_channels=3,
        id2label=dict(enumerate(own)),
        label2id={n: i for i, n in enumerate(own)},
    )
    module = ViTForImageClassification(config)
    prepare = lambda x: (rgb(nn.functional.interpolate(x, (12, 12), mode="bilinear", antialias=True)) - 0.5) / 0.5  # noqa: E731
    fitted(module, module.classifier, real, lambda x: module(x).logits, prepare)
    with torch.no_grad():
        order = [bars.classes.index(n) for n in own]
        module.classifier.weight.copy_(module.classifier.weight[order].clone())
        module.classifier.bias.copy_(module.classifier.bias[order].clone())
    module.save_pretrained(tmp_path / "vit")
    settings = {
        "do_resize": True,
        "size": {"height": 12, "width": 12},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    (tmp_path / "vit" / "preprocessor_config.json").write_text(json.dumps(settings))
    classifier = load_classifier(f"hf:{tmp_path / 'vit'}", domain=bars)
    assert accuracy(classifier, real) > 0.95
    assert "from the configuration in vit" in classifier.notes[0] and classifier.preprocessing.size == (12, 12)
    assert {"config.json", "model.safetensors", "preprocessor_config.json"} <= set(classifier.digests)


@pytest.mark.parametrize("name", ["timm:resnet18", "torchvision:resnet18", "hf:google/vit-base-patch16-224"])
def test_nothing_is_downloaded_unasked(bars, name, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    with pytest.raises(ModelError, match="downloads nothing by itself") as error:
        load_classifier(name, domain=bars)
    assert "--download" in error.value.hint and not list(tmp_path.iterdir())


def test_published_torchvision_weights_bring_their_preprocessing(bars, tmp_path, monkeypatch):
    models = import_torchvision().models
    published = models.get_model_weights("shufflenet_v2_x0_5").DEFAULT
    (tmp_path / "checkpoints").mkdir()
    path = tmp_path / "checkpoints" / published.url.rpartition("/")[2]
    torch.save(models.get_model("shufflenet_v2_x0_5", weights=None).state_dict(), path)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    with pytest.raises(RecipeError, match="does not name the classes left"):  # ImageNet has no bars
        load_classifier("torchvision:shufflenet_v2_x0_5", domain=bars)
    wide = load_classifier(
        "torchvision:shufflenet_v2_x0_5", domain=bars, classes=[*bars.classes, *map(str, range(997))]
    )
    assert wide.preprocessing.mean == (0.485, 0.456, 0.406) and wide.preprocessing.size == (224, 224)


@pytest.mark.parametrize(("name", "says"), [("timm:resnet81", "resnet18"), ("torchvision:resnet81", "resnet18")])
def test_misspelt_names(bars, name, says):
    with pytest.raises(RecipeError) as error:
        load_classifier(name, domain=bars)
    assert says in error.value.hint


def test_weights_of_another_model_are_refused(bars, tmp_path):
    save_file({"x.weight": torch.ones(3, 3)}, tmp_path / "w.safetensors")
    with pytest.raises(ModelError, match="do not fit timm:test_resnet"):
        load_classifier("timm:test_resnet", domain=bars, weights=str(tmp_path / "w.safetensors"))
