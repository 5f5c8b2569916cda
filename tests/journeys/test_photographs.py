"""A big model in a folder, as docs/photographs.md has it: registered by one command, then searched by its name."""

import json
import tomllib

import numpy as np
import tomli_w
import torch
from PIL import Image

from foible.campaign import assemble, load_recipe
from foible.generators.networks.tiny_autoencoder import _down, _up
from foible.searches.descent import Descent
from foible.types import Arm
from foible.zoo import entry

from .conftest import foible

CLASSIFIER = '''
from foible.types import Capability


class Brightest:
    """The channel with the most light (red, green, blue) names the class."""

    name, classes, offers = "brightest", ("amber", "grass", "sky"), frozenset({Capability.GRADIENT})

    def __call__(self, images):
        return images.mean((2, 3))
'''


def test_an_autoencoder_in_a_folder_is_added_and_searched_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for channel, name in enumerate(("amber", "grass", "sky")):
        (tmp_path / "photographs" / name).mkdir(parents=True)
        for k in range(2):
            pixels = rng.integers(0, 120, (16, 16, 3), dtype=np.uint8)
            pixels[..., channel] += 100
            Image.fromarray(pixels).save(tmp_path / "photographs" / name / f"{k}.png")
    (tmp_path / "tiny").mkdir()
    torch.manual_seed(0)
    for part, network in (("encoder", _down(8, 5, True)), ("decoder", _up(8, 5, True))):
        torch.save(network.state_dict(), tmp_path / "tiny" / f"{part}.pth")
    (tmp_path / "brightest.py").write_text(CLASSIFIER)

    shape = "shape=[3, 16, 16]"
    done = foible("zoo", "add", "tiny", "--domain", "photographs", "--set", "images=photographs", "--set", shape)
    assert done.returncode == 0 and "use it as generator = 'tiny'" in done.stdout, done.stderr
    card = tomllib.loads(foible("zoo", "show", "tiny").stdout)
    assert card["figures"]["latent_size"] == 5 * 2 * 2 and card["figures"]["decode_ms"] > 0

    recipe = {
        "domain": "photographs",
        "generator": "tiny",
        "classifier": "brightest.py:Brightest",
        "search": "random",
        "attempts": 3,
        "budget": {"evaluations": 50},
    }
    (tmp_path / "search.toml").write_text(tomli_w.dumps(recipe))
    done = foible("run", "search.toml", "--out", "runs/tiny", "--quiet")
    assert done.returncode in (0, 1), done.stderr
    manifest = json.loads((tmp_path / "runs" / "tiny" / "manifest.json").read_text())
    assert entry("tiny").sha256 in json.dumps(manifest), "a run names the very files it used"
    assert "is a model in a folder" in foible("zoo", "appraise", "tiny").stderr
    silent, said = (
        assemble(load_recipe({**recipe, "search": search})).searches[Arm.SEARCH]
        for search in ("auto", {"use": "descent", "keep": 0.3})
    )
    assert isinstance(silent, Descent), "the default, where the classifier lends gradients"
    assert (silent.keep, said.keep) == (2.0, 0.3), "the generator's advice, unless the recipe says otherwise"
