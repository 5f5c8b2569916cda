"""Generators and domains of one's own: offered when the workbench was opened with them, and in no other way."""

import tomllib

import pytest
from PIL import Image

from foible.domains import load_domain, real_images
from foible.errors import FoibleError
from foible.images import to_bytes
from foible.ui.offers import make_offers
from foible.zoo import entry
from foible.zoo.files import read_model_file, save_model


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A folder of images that is a domain of its own."""
    root = tmp_path_factory.mktemp("own") / "digits"
    real = real_images(load_domain("mnist"), "sample")
    for label in range(10):
        (root / str(label)).mkdir(parents=True)
        for row in (real.labels == label).nonzero()[:6, 0].tolist():
            pixels = to_bytes(real.images(real.labels.new_tensor([row])))[0, 0]
            Image.fromarray(pixels).save(root / str(label) / f"{row}.png")
    return root


@pytest.fixture(scope="module")
def maker(digits):
    """A generator's file for that domain."""
    header, tensors = read_model_file(entry("mnist-vae").path())
    path = digits.parent / "my-vae.safetensors"
    save_model(path, header.model_copy(update={"domain": "digits"}), tensors)
    return path


def test_what_was_named_is_offered_drawn_and_tried(visit, digits, maker, tmp_path):
    client = visit(generators=(maker,), domains=(str(digits),))
    page = client.get("/setup").text
    assert "images in" in page and "vae, your own file" in page and "mnist-vae" in page
    for path in ("/pictures/domain/digits.png", "/pictures/generator/my-vae.png"):
        assert client.get(path).headers["content-type"] == "image/png"
    own = tmp_path / "own.safetensors"
    own.write_bytes(entry("mnist-deepconv").path().read_bytes())
    key = client.post("/uploads?name=own.safetensors", content=own.read_bytes()).json()["key"]
    fields = {"domain": "digits", "generator": "my-vae", "classifier": key}
    assert "is right on" in client.post("/setup/probe", data=fields).json()["html"]
    recipe = tomllib.loads(client.get("/setup/recipe.toml", params=fields).text)
    assert recipe["domain"] == str(digits) and recipe["generator"] == str(maker)
    said = client.post("/setup/preview", data=fields | {"generator": "mnist-vae"}).json()
    assert not said["ready"] and "not a generator of" in said["html"]


def test_a_path_in_a_form_is_no_generator(visit, digits, maker):
    client = visit()
    for fields in ({"domain": str(digits)}, {"domain": "mnist", "generator": str(maker)}):
        said = client.post("/setup/preview", data={"classifier": "mnist-deepconv", **fields}).json()
        assert not said["ready"]
    assert client.get("/pictures/generator/my-vae.png").status_code == 404


def test_what_does_not_fit_is_refused_at_the_start(digits, maker, tmp_path):
    twin = tmp_path / "mnist-vae.safetensors"
    twin.write_bytes(entry("mnist-vae").path().read_bytes())
    for generators, domains, words in (
        ((maker,), (), "which is not known here"),
        ((), (str(digits),), "no generator is for the domain 'digits'"),
        ((entry("mnist-deepconv").path(),), (), "not a generator"),
        ((twin,), (), "two generators are called 'mnist-vae'"),
        ((tmp_path / "absent.safetensors",), (), "no model file"),
    ):
        with pytest.raises(FoibleError, match=words):
            make_offers(generators, domains)


def test_judges_come_last_and_the_usual_system_first():
    listed = [c.name for c in make_offers().classifiers if c.domain == "mnist"]
    domain = load_domain("mnist")
    assert listed[0] == domain.classifier
    assert sorted(listed, key=lambda name: name in domain.references) == listed


def test_what_cannot_run_today_is_offered_with_the_reason(visit, monkeypatch):
    offers = make_offers()
    blocked = {c.name for c in offers.classifiers if c.obstacle}
    assert set(load_domain("mnist").references) <= blocked and load_domain("mnist").classifier not in blocked
    monkeypatch.setattr("foible.domains.sources.data_folders", list)
    missing = {g.name: g.obstacle for g in make_offers().generators if g.domain == "cifar10"}
    assert "foible data get cifar10" in missing.get("cifar10-vae", "foible data get cifar10")
    assert not missing.get("cifar10-gan", "")
    page = visit().get("/setup").text
    assert "Not today:" in page and "disabled" in page
    assert visit().get("/pictures/domain/cifar10.png").status_code == 200
