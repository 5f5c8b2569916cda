"""A workbench in this process, over a runs folder with one finished toy run."""

import shutil

import pytest
from starlette.testclient import TestClient

from foible.api import run as run_campaign
from foible.testing.toys import toy_recipe, write_toy_images
from foible.ui.app import Settings, create_app

HERE = "http://127.0.0.1:7860"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ui")
    images = write_toy_images(folder / "toys")
    run_campaign(toy_recipe(images, attempts=9), folder / "runs" / "toy")
    return folder / "runs"


@pytest.fixture
def runs(made, tmp_path):
    """A copy that a test may write into."""
    return shutil.copytree(made, tmp_path / "runs")


@pytest.fixture
def visit(runs):
    """Open the workbench in a browser of one's own."""
    apps = {}

    def sit_down(password=None, **settings):
        key = (password, *settings.items())
        if key not in apps:
            apps[key] = create_app(Settings(runs, password=password, **settings))
        return TestClient(apps[key], base_url=HERE, headers={"origin": HERE}, follow_redirects=False)

    yield sit_down
    for app in apps.values():
        app.state.bench.sessions.close()
