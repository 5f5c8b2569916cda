"""A classifier of one's own: a good one is tried and run, a hostile one is refused, nobody else sees either."""

import pickle
import tomllib

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from foible.store import open_run
from foible.zoo import entry, load_model

from .conftest import SLOW, in_all_looks


class Hostile:
    """Unpickling this would leave a file behind."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


class Reaching(nn.Module):
    """A TorchScript model that writes a file of the user when it is asked."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def forward(self, x):
        return x.flatten(1)[:, :10] + torch.from_file(self.path, True, 4).sum()


class Whole(nn.Module):
    """A network of the zoo that takes images in [0, 1]."""

    def __init__(self, stored):
        super().__init__()
        self.stored, self.network = stored, stored.network.module

    def forward(self, x):
        return self.network(self.stored.preprocessing(x))


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    """Networks of one's own as TorchScript: code that only the sandbox may run."""

    def saved(name, model, shape):
        path = tmp_path_factory.mktemp("good") / name
        network = Whole(load_model(entry(model).path(), "classifiers")).eval()
        torch.jit.trace(network, torch.rand(2, *shape)).save(str(path))
        return path

    return saved


@pytest.fixture(scope="module")
def good(save):
    return save("my-own-net.pt", "mnist-deepconv", (1, 28, 28))


def send(page, path):
    page.goto("/setup")
    page.locator("#file").set_input_files(path)


def test_a_classifier_of_ones_own_is_recognised_probed_described_run_and_removed(person, bench, good):
    page = person()
    page.goto("/setup?domain=cifar10")
    page.locator("#file").set_input_files(good)
    expect(page.locator("#upload-status")).to_have_text("my-own-net.pt is here.", timeout=SLOW)
    probe, problem = page.locator("#probe"), page.locator(".problem")
    expect(page.locator("#recognised")).to_contain_text("Recognised", timeout=SLOW)
    expect(page.locator("[name=domain][value=mnist]")).to_be_checked()
    asked = probe.get_by_role(
        "button", name="range 0,1", exact=True
    )  # with few real images it cannot tell two conventions apart
    expect(asked.or_(probe.get_by_text("'my-own-net' is right on"))).to_be_visible(timeout=SLOW)
    if asked.is_visible():
        asked.click()
    expect(probe).to_contain_text("'my-own-net' is right on", timeout=SLOW)
    expect(probe).to_contain_text("sandbox: no network")
    in_all_looks(page)
    if not page.get_by_label("Value range").is_visible():
        page.get_by_text("How it wants its images").click()
    page.get_by_label("Value range").fill("0,")
    expect(problem).to_contain_text("range '0,' is not a list of numbers", timeout=SLOW)
    page.get_by_label("Value range").fill("0,1")
    page.get_by_label("Mean", exact=True).fill("0.25")
    page.get_by_label("Standard deviation").fill("0.5")
    page.get_by_label("Classes in the order").fill("0,1,2,3,4,5,6,7,9,8")
    expect(probe).to_contain_text("mean 0.25, std 0.5 (as you say)", timeout=SLOW)
    expect(probe).to_contain_text("columns [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]", timeout=SLOW)
    page.get_by_text("Recipe and command").click()
    expect(page.locator("#command")).to_contain_text(
        "foible test my-own-net.pt --domain mnist --generator mnist-vae --range=0,1 --mean=0.25 --std=0.5 "
        "--classes=0,1,2,3,4,5,6,7,9,8 --untrusted"
    )
    with page.expect_download() as download:
        page.get_by_role("link", name="Recipe file").click()
    said = tomllib.loads(download.value.path().read_text())["classifier"]
    assert said["mean"] == [0.25] and said["range"] == [0.0, 1.0] and said["classes"][-1] == "8"
    for label in ("Mean", "Standard deviation", "Classes in the order"):
        page.get_by_label(label, exact=label == "Mean").fill("")
    page.get_by_text("More: generator").click()
    for field, value in {"attempts": 3, "evaluations": 300, "baseline": 0, "name": "browser-own"}.items():
        page.locator(f"[name={field}]").fill(str(value))
    expect(page.locator("#panel .cost b")).to_contain_text("if no search ends early", timeout=SLOW)
    page.get_by_role("button", name="Find failures").click()
    page.wait_for_url("**/runs/browser-own")
    expect(page.locator(".progress .state")).to_have_text("complete", timeout=SLOW)
    assert (bench.runs / "browser-own" / "my-own-net.pt").is_file()
    assert any("my-own-net" in name for name in open_run(bench.runs / "browser-own").manifest.digests)
    page.goto("/setup")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("#upload-status")).to_have_text("Removed.")
    page.reload()
    expect(page.locator("#f-classifier")).not_to_contain_text("my-own-net")


def test_two_people_do_not_see_each_others_uploads(person, save):
    one, other = person(400, "dark"), person(400, "dark")
    send(one, save("my-own-net.pt", "cifar10-teacher", (3, 32, 32)))
    expect(one.locator("#upload-status")).to_contain_text("is here", timeout=SLOW)
    expect(one.locator("#recognised")).to_contain_text("Recognised", timeout=SLOW)
    expect(one.locator("[name=domain][value=cifar10]")).to_be_checked()
    in_all_looks(one)
    key = one.locator("#f-classifier").input_value()
    assert key.startswith("upload:")
    one.reload()
    expect(one.locator("#f-classifier")).to_contain_text("my-own-net")
    other.goto("/setup")
    expect(other.locator("#f-classifier")).not_to_contain_text("my-own-net")
    asked = {"domain": "mnist", "generator": "mnist-vae", "classifier": key}
    for path in ("/setup/preview", "/setup/probe"):
        said = other.evaluate("([path, asked]) => form(path, asked)", [path, asked])
        assert "my-own-net" not in said["html"] and not said.get("ready") and not said.get("fine")
    refused = other.evaluate("asked => form('/runs', asked).catch(error => error.message)", asked)
    assert "not there any more" in refused


def test_hostile_files_are_refused_and_run_nothing(person, tmp_path):
    trace = tmp_path / "trace"
    pickled = pickle.dumps(Hostile(trace))
    (tmp_path / "disguised.safetensors").write_bytes(pickled)
    (tmp_path / "weights.pkl").write_bytes(pickled)
    (tmp_path / "script.py").write_text("open('trace', 'w')")
    (tmp_path / "generator.safetensors").write_bytes(entry("mnist-vae").path().read_bytes())
    (tmp_path / "empty.safetensors").write_bytes(b"")
    torch.save(Hostile(trace), tmp_path / "model.pt")
    expected = {
        "disguised.safetensors": "cannot be read",
        "model.pt": "which may run any code when opened",
        "weights.pkl": "is not taken",
        "script.py": "is not taken",
        "generator.safetensors": "one of the generators",
        "empty.safetensors": "empty",
    }
    page = person()
    page.goto("/setup")
    before = page.locator("#f-classifier option").count()
    for name, words in expected.items():
        page.locator("#file").set_input_files(tmp_path / name)
        expect(page.locator("#upload-status")).to_contain_text("Not taken: ", timeout=SLOW)
        expect(page.locator("#upload-status")).to_contain_text(words, timeout=SLOW)
    assert page.locator("#f-classifier option").count() == before
    assert not trace.exists()


def test_a_hostile_model_is_contained(person, tmp_path):
    trace = tmp_path / "trace"
    torch.jit.script(Reaching(str(trace))).save(str(tmp_path / "reaching.pt"))
    page = person()
    send(page, tmp_path / "reaching.pt")
    expect(page.locator("#probe .wrong")).to_contain_text("Permission denied", timeout=SLOW)
    expect(page.get_by_role("button", name="Find failures")).to_be_disabled()
    assert not trace.exists()


def test_what_could_be_a_file_cannot_be_named(person):
    page = person()
    page.goto("/setup")
    page.locator("#f-classifier").select_option("named")
    for address in ("/etc/passwd", "model.py:predict", "hf:../models", "file:///etc/passwd", "timm:../../x"):
        page.locator("[name=address]").fill(address)
        expect(page.locator(".problem")).to_contain_text(f"'{address}' is neither", timeout=SLOW)
