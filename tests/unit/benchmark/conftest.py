"""A matrix of toys: two generators, steps and populations, all of it in a second or two."""

import pytest
import tomli_w

from foible.testing import toys
from foible.testing.toys import toy_recipe


@pytest.fixture
def toy_matrix(toy_images, tmp_path):
    """Write a matrix recipe over the toys; `axes` and `shared` values can be changed."""

    def write(name="toys", axes=None, **changes):
        shared = toy_recipe(toy_images, attempts=6, budget={"evaluations": 120}, baseline={"attempts": 2}, **changes)
        shared.pop("name")
        usual = [
            {
                "encoder": {"title": "encoder", "generator": f"{toys.__file__}:ToyEncoder"},
                "sampler": {"title": "sampler", "generator": f"{toys.__file__}:ToyGenerator"},
            },
            {
                "near": {"title": "near", "search": {"extent": 0.01}},
                "far": {"title": "far", "search": {"extent": 0.05}},
            },
        ]
        path = tmp_path / f"{name}.toml"
        path.write_text(tomli_w.dumps({"shared": {"title": "Toys & bars", **shared}, "axes": axes or usual}))
        return path

    return write
