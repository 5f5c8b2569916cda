"""What the classifier tests share: a toy domain with enough images, and the toy network in every format."""

import pytest

from foible.domains import load_domain, real_images
from foible.testing.toys import write_toy_images
from tests.model_files import ModelFiles


@pytest.fixture(scope="session")
def bars(tmp_path_factory):
    """The toy domain with 30 images a class."""
    return load_domain(write_toy_images(tmp_path_factory.mktemp("domain") / "bars", per_class=30))


@pytest.fixture(scope="session")
def real(bars):
    return real_images(bars)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return ModelFiles(tmp_path_factory.mktemp("models"))
