"""Big models load from local folders: tiny random ones are saved by the tests, nothing is downloaded."""

import json
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from foible.errors import DataError, MissingExtra, ModelError, RecipeError
from foible.generators.library import import_diffusers
from foible.generators.networks.tiny_autoencoder import _down, _up
from foible.registry import build
from foible.testing.contracts import GeneratorContract

pytest.importorskip("diffusers")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    root, rng = tmp_path_factory.mktemp("photographs"), np.random.default_rng(0)
    for k in range(3):
        Image.fromarray(rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)).save(root / f"{k}.png")
    return root


@pytest.fixture(scope="module")
def autoencoders(tmp_path_factory):
    root, diffusers = tmp_path_factory.mktemp("autoencoders"), import_diffusers("a test")
    diffusers.AutoencoderTiny(
        encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8),
        num_encoder_blocks=(1, 1),
        num_decoder_blocks=(1, 1),
    ).save_pretrained(root / "tiny")
    diffusers.AutoencoderKL(block_out_channels=(8,), norm_num_groups=4, latent_channels=2).save_pretrained(root / "kl")
    (root / "bare").mkdir()
    for part, network in (("encoder", _down(8, 5, True)), ("decoder", _up(8, 5, True))):
        torch.save(network.half().state_dict(), root / "bare" / f"{part}.pth")
    return root


@pytest.mark.parametrize("kind", ["tiny", "kl", "bare"])
class TestAutoencoder(GeneratorContract):
    @pytest.fixture(autouse=True)
    def _made(self, kind, autoencoders, photographs):
        parameters = {"folder": str(autoencoders / kind), "images": str(photographs), "shape": (3, 16, 16)}
        generator = build("generators", "autoencoder", parameters)
        self.make = lambda: generator

    def test_encodes_what_it_decodes(self):
        generator, labels = self.make(), torch.zeros(2, dtype=torch.long)
        latents = generator.encode(torch.rand(2, 3, 16, 16), labels)
        assert tuple(latents.shape[1:]) == generator.space.shape
        assert generator.decode(latents, labels).shape == (2, 3, 16, 16)


def test_autoencoder_that_is_not_there(tmp_path, photographs):
    with pytest.raises(ModelError, match=r"there is no config\.json and no") as error:
        build("generators", "autoencoder", {"folder": str(tmp_path), "images": str(photographs)})
    assert "save_pretrained" in error.value.hint


def test_folder_of_another_model(tmp_path, photographs):
    (tmp_path / "config.json").write_text(json.dumps({"_class_name": "UNet2DModel"}))
    with pytest.raises(ModelError, match="holds a UNet2DModel"):
        build("generators", "autoencoder", {"folder": str(tmp_path), "images": str(photographs)})


def test_bare_weights_without_their_other_half(tmp_path, photographs):
    torch.save({}, tmp_path / "encoder.pth")
    with pytest.raises(ModelError, match=r"has 0 files called \*decoder\.pth"):
        build("generators", "autoencoder", {"folder": str(tmp_path), "images": str(photographs)})


def test_space_needs_photographs(autoencoders, tmp_path):
    with pytest.raises(DataError, match="has 0 photographs"):
        build("generators", "autoencoder", {"folder": str(autoencoders / "tiny"), "images": str(tmp_path)})


class TestBigGAN(GeneratorContract):
    @pytest.fixture(autouse=True)
    def _made(self, tmp_path):
        package = pytest.importorskip("pytorch_pretrained_biggan")
        layers = [(True, 16, 8), (False, 8, 8), (True, 8, 4), (True, 4, 2), (True, 2, 1)]
        sizes = {"z_dim": 16, "channel_width": 4, "num_classes": 5}
        config = package.BigGANConfig(layers=layers, attention_layer_position=2, **sizes)
        network = package.BigGAN(config)
        torch.nn.init.ones_(network.generator.bn.weight)
        torch.nn.init.zeros_(network.generator.bn.bias)
        for _ in range(20):  # spectral norms are found while training; without, tanh saturates and has no slope
            network.train()(torch.randn(4, 16), torch.eye(5)[:4], 1.0)
        torch.save(network.state_dict(), tmp_path / "pytorch_model.bin")
        (tmp_path / "config.json").write_text(config.to_json_string())
        self.make = lambda: build("generators", "biggan", {"folder": str(tmp_path), "shape": (3, 12, 12)})
        self.folder = tmp_path

    def test_bounds_follow_truncation(self):
        half = build("generators", "biggan", {"folder": str(self.folder), "shape": (3, 12, 12), "truncation": 0.5})
        assert half.space.range == pytest.approx(self.make().space.range / 2, rel=1e-5)
        assert half.space.range <= 2.0


def test_biggan_that_is_not_there(tmp_path):
    with pytest.raises(ModelError, match=r"config\.json and pytorch_model\.bin not found"):
        build("generators", "biggan", {"folder": str(tmp_path)})


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """A random Stable Diffusion of a few thousand weights, with a vocabulary of letters."""
    transformers, diffusers = pytest.importorskip("transformers"), import_diffusers("a test")
    root = tmp_path_factory.mktemp("pipeline")
    letters = [chr(c) for c in range(33, 127)]
    vocabulary = {
        t: i for i, t in enumerate(["<|startoftext|>", "<|endoftext|>", *letters, *(c + "</w>" for c in letters)])
    }
    (root / "vocab.json").write_text(json.dumps(vocabulary))
    (root / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(str(root / "vocab.json"), str(root / "merges.txt"), model_max_length=16)
    text = transformers.CLIPTextConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=16, bos_token_id=0, eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    unet = diffusers.UNet2DConditionModel(
        sample_size=4, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4, cross_attention_dim=16,
        attention_head_dim=2, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    diffusers.StableDiffusionPipeline(
        vae=diffusers.AutoencoderKL(
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            block_out_channels=(8, 8),
            norm_num_groups=4,
            latent_channels=4,
        ),
        text_encoder=transformers.CLIPTextModel(text),
        tokenizer=tokenizer,
        unet=unet,
        scheduler=diffusers.DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(root / "saved")
    return root / "saved"


class TestTextToImage(GeneratorContract):
    @pytest.fixture(autouse=True)
    def _made(self, pipeline):
        prompts = {"0": "a", "1": "b", "2": "c"}
        parameters = {"folder": str(pipeline), "prompts": prompts, "shape": (3, 6, 6), "steps": 2}
        generator = build("generators", "text_to_image", parameters)
        self.make = lambda: generator

    def in_double(self, generator):
        generator.pipeline.to(torch.float64)
        generator._embedded.clear()
        return generator

    def test_is_what_the_pipeline_makes(self):
        generator, labels = self.make(), torch.tensor([2, 0])
        latents = generator.sample(labels, torch.Generator().manual_seed(0))
        images = generator.pipeline(
            ["c", "a"], latents=latents, num_inference_steps=2, guidance_scale=3.5, output_type="pt"
        ).images
        resized = torch.nn.functional.interpolate(images, (6, 6), mode="area")
        assert torch.allclose(generator.decode(latents, labels), resized, atol=1e-5)

    def test_encodes_to_noise_inside_the_space(self):
        generator, labels = self.make(), torch.tensor([2, 0])
        latents = generator.encode(torch.rand(2, 3, 6, 6, generator=torch.Generator().manual_seed(0)), labels)
        assert tuple(latents.shape[1:]) == generator.space.shape
        assert torch.equal(latents, generator.space.clamp(latents))

    def test_the_prompt_makes_the_image(self):
        generator = self.make()
        latents = generator.sample(torch.tensor([0]), torch.Generator().manual_seed(0))
        first, second = (generator.decode(latents, torch.tensor([y])) for y in (0, 1))
        assert not torch.equal(first, second)

    def test_a_class_without_a_prompt_is_named(self):
        generator = self.make()
        with pytest.raises(RecipeError, match="no prompt for class 7"):
            generator.decode(torch.zeros(1, *generator.space.shape), torch.tensor([7]))


def test_pipeline_and_lora_that_are_not_there(tmp_path, pipeline):
    with pytest.raises(ModelError, match=r"no model_index\.json"):
        build("generators", "text_to_image", {"folder": str(tmp_path), "prompts": {}})
    with pytest.raises(ModelError, match="no LoRA file"):
        build("generators", "text_to_image", {"folder": str(pipeline), "prompts": {}, "lora": "none.safetensors"})


@pytest.fixture(scope="module")
def loras(tmp_path_factory, pipeline):
    """A random LoRA for the random pipeline, in the two forms that are about: diffusers' own, and kohya's."""
    diffusers = import_diffusers("a test")
    peft, save_file = pytest.importorskip("peft"), pytest.importorskip("safetensors.torch").save_file
    folder, unet = tmp_path_factory.mktemp("loras"), diffusers.UNet2DConditionModel.from_pretrained(pipeline / "unet")
    unet.add_adapter(peft.LoraConfig(r=2, lora_alpha=2, target_modules=["to_k", "to_v"], init_lora_weights=False))
    layers = peft.get_peft_model_state_dict(unet)
    diffusers.StableDiffusionPipeline.save_lora_weights(folder, unet_lora_layers=layers, weight_name="own.safetensors")
    kohya = {}
    for key, tensor in layers.items():
        layer, side, _ = key.rsplit(".", 2)
        name = "lora_unet_" + layer.replace(".", "_")
        kohya[f"{name}.{side.replace('lora_A', 'lora_down').replace('lora_B', 'lora_up')}.weight"] = tensor.contiguous()
        kohya[f"{name}.alpha"] = torch.tensor(2.0)
    save_file(kohya, folder / "kohya.safetensors")
    return folder


def rendered(pipeline, **settings):
    parameters = {"folder": str(pipeline), "prompts": {"0": "a"}, "shape": (3, 6, 6), "steps": 2, **settings}
    generator, labels = build("generators", "text_to_image", parameters), torch.tensor([0])
    return generator.decode(generator.sample(labels, torch.Generator().manual_seed(0)), labels)


def test_a_lora_changes_the_images_whoever_wrote_the_file(pipeline, loras):
    plain = rendered(pipeline)
    own, kohya = (rendered(pipeline, lora=str(loras / f"{name}.safetensors")) for name in ("own", "kohya"))
    assert not torch.allclose(own, plain, atol=1e-4)
    assert torch.allclose(own, kohya, atol=1e-5)
    assert torch.equal(plain, rendered(pipeline)), "a LoRA stays with the generator it was loaded for"


def test_a_lora_without_peft_shows_the_install_line(pipeline, loras, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(MissingExtra, match="a LoRA file needs the package 'peft'") as error:
        rendered(pipeline, lora=str(loras / "own.safetensors"))
    assert 'pip install "foible[lora]"' in error.value.hint


def test_a_file_that_is_no_lora_of_this_pipeline_is_named(pipeline, tmp_path):
    from safetensors.torch import save_file

    save_file({"weight": torch.zeros(2)}, tmp_path / "other.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"not a file of tensors")
    for name in ("other", "broken"):
        with pytest.raises(ModelError, match=rf"'.*{name}\.safetensors' is no LoRA"):
            rendered(pipeline, lora=str(tmp_path / f"{name}.safetensors"))
