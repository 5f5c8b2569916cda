"""Pixel space: images in, the same images out, and every search works on it."""

import pytest
import torch

import foible
from foible.errors import RecipeError
from foible.generators.pixels import Pixels
from foible.testing.toys import toy_recipe


def test_an_image_is_its_own_latent():
    images = torch.rand(3, 1, 2, 2, generator=torch.Generator().manual_seed(0))
    pixels, labels = Pixels((1, 2, 2)), torch.zeros(3, dtype=torch.long)
    assert torch.equal(pixels.decode(pixels.encode(images, labels), labels), images)


def test_a_shape_that_is_none_is_refused():
    with pytest.raises(RecipeError, match="channels, height and width"):
        Pixels((28, 28))


@pytest.mark.parametrize("search", [{"use": "descent", "steady": False}, {"use": "random", "extent": 0.3}])
def test_a_recipe_names_pixels_and_the_domain_gives_their_shape(search, toy_images, tmp_path):
    recipe = toy_recipe(toy_images, generator="pixels", search=search, baseline={"attempts": 0}, validators=[])
    run = foible.run(recipe, tmp_path / "run")
    findings = list(run.findings())
    assert findings and all(tuple(f.latent.shape) == (1, 6, 6) for f in findings)
    assert all(abs(f.latent_distance - f.pixel_distance) < 0.05 for f in findings), "only rounding lies between the two"
