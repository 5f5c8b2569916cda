import pytest
import torch

from foible.errors import RecipeError
from foible.generators.networks.gan import ConditionalGAN
from foible.generators.stored import space_tensors
from foible.types import LatentSpace
from foible.zoo import resolve
from foible.zoo.files import Header, read_model_file, save_model

CONFIG = {"shape": [1, 8, 8], "classes": 3, "latent": 6, "widths": [8, 4], "judge_widths": [4, 8]}


@pytest.fixture
def gan_file(tmp_path):
    path = tmp_path / "tiny.safetensors"
    space = LatentSpace.measured(torch.randn(50, 6))
    tensors = {**ConditionalGAN(**CONFIG).state_dict(), **space_tensors(space)}
    save_model(path, Header(role="generators", family="gan", domain="bars", config=CONFIG), tensors)
    return path


def test_a_recipe_may_choose_a_model_files_settings(gan_file):
    assert resolve("generators", str(gan_file), {}).model.truncation is None
    assert resolve("generators", str(gan_file), {"truncation": 0.7}).model.truncation == 0.7


def test_a_truncation_that_was_measured_is_kept_in_the_file(gan_file, tmp_path):
    header, tensors = read_model_file(gan_file)
    settled = tmp_path / "settled.safetensors"
    save_model(settled, header.model_copy(update={"config": {**header.config, "truncation": 1.5}}), tensors)
    assert resolve("generators", str(settled), {}).model.truncation == 1.5
    assert resolve("generators", str(settled), {"truncation": 0.7}).model.truncation == 0.7


def test_an_unknown_setting_is_named(gan_file):
    with pytest.raises(RecipeError, match="without a setting 'truncatoin'") as error:
        resolve("generators", str(gan_file), {"truncatoin": 0.7})
    assert "truncation" in error.value.hint


def test_the_discriminator_comes_back_from_the_file(gan_file):
    model = resolve("generators", str(gan_file), {}).model
    assert model.realness(torch.rand(2, 1, 8, 8), torch.tensor([0, 1])).shape == (2,)
