"""A classifier of one's own: a good one is tried and run, a hostile one is refused, nobody else sees either."""

import pickle
import tomllib

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from foible.store import open_run
from foible.zoo import entry, load_model

from .conftest import SLOW, close_bench, open_bench


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


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A network of one's own as TorchScript: code that only the sandbox may run."""
    path = tmp_path_factory.mktemp("good") / "my-own-net.pt"
    network = load_model(entry("mnist-deepconv").path(), "classifiers").network.module.eval()
    torch.jit.trace(network, torch.rand(2, 1, 28, 28)).save(str(path))
    return path


def send(page, path):
    page.goto("/setup")
    page.locator("#file").set_input_files(path)


def test_a_good_classifier_is_probed_and_run_and_stays_with_its_run(person, bench, good):
    page = person()
    send(page, good)
    expect(page.locator("#upload-status")).to_have_text("my-own-net.pt is here.", timeout=SLOW)
    expect(page.locator("#probe")).to_contain_text("'my-own-net' is right on", timeout=SLOW)
    expect(page.locator("#probe")).to_contain_text("sandbox: no network")
    for field, value in {"attempts": 3, "evaluations": 300}.items():
        page.locator(f"[name={field}]").fill(str(value))
    page.get_by_text("More settings").click()
    page.locator("[name=baseline]").fill("0")
    page.locator("[name=name]").fill("browser-own")
    expect(page.locator("#panel .cost b")).to_contain_text("if no search ends early", timeout=SLOW)
    page.get_by_text("Recipe and command").click()
    expect(page.locator("#recipe")).to_contain_text("untrusted = true")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/browser-own")
    expect(page.locator(".progress .state")).to_have_text("complete", timeout=SLOW)
    assert (bench.runs / "browser-own" / "my-own-net.pt").is_file()
    assert any("my-own-net" in name for name in open_run(bench.runs / "browser-own").manifest.digests)


def test_what_is_said_of_a_classifier_is_tried_at_once_and_goes_with_the_recipe(person, good):
    page = person()
    send(page, good)
    probe, problem = page.locator("#probe"), page.locator(".problem")
    expect(probe).to_contain_text("'my-own-net' is right on", timeout=SLOW)
    expect(probe).to_contain_text("tried: right on")
    page.get_by_text("How it wants its images").click()
    page.get_by_label("Value range").fill("0,255")
    expect(probe).to_contain_text("values 0 to 255 (as you say)", timeout=SLOW)
    page.get_by_label("Value range").fill("0,")
    expect(problem).to_contain_text("range '0,' is not a list of numbers", timeout=SLOW)
    expect(probe).not_to_contain_text("as you say")
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
    page.get_by_text("mnist-deepconv", exact=True).click()
    expect(page.get_by_label("Mean", exact=True)).not_to_be_visible()
    expect(page.locator("#recipe")).to_contain_text('classifier = "mnist-deepconv"')


def test_two_people_do_not_see_each_others_uploads(person, good):
    one, other = person(), person()
    send(one, good)
    expect(one.locator("#upload-status")).to_contain_text("is here", timeout=SLOW)
    key = one.locator("input[name=classifier]:checked").get_attribute("value")
    assert key.startswith("upload:")
    one.reload()
    expect(one.locator("#classifiers")).to_contain_text("my-own-net")
    other.goto("/setup")
    expect(other.locator("#classifiers")).not_to_contain_text("my-own-net")
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
    before = page.locator("input[name=classifier]").count()
    for name, words in expected.items():
        page.locator("#file").set_input_files(tmp_path / name)
        expect(page.locator("#upload-status")).to_contain_text("Not taken: ", timeout=SLOW)
        expect(page.locator("#upload-status")).to_contain_text(words, timeout=SLOW)
    assert page.locator("input[name=classifier]").count() == before
    assert not trace.exists()


def test_a_file_that_is_too_large_is_refused_in_words(browser, tmp_path, good):
    assert good.stat().st_size > 100_000
    padded = tmp_path / "large.pt"
    padded.write_bytes(good.read_bytes() + bytes(2_000_000))
    small = open_bench(tmp_path / "runs", "--largest-upload", "1")
    try:
        page = browser.new_page(base_url=small.address)
        page.set_default_timeout(SLOW)
        send(page, padded)
        expect(page.locator("#upload-status")).to_contain_text("Not taken: ", timeout=SLOW)
        expect(page.locator("#upload-status")).to_contain_text("larger than 1 MB")
        page.reload()
        expect(page.locator("#classifiers")).not_to_contain_text("large.pt")
        page.close()
    finally:
        close_bench(small)


def test_a_hostile_model_is_contained(person, tmp_path):
    trace = tmp_path / "trace"
    torch.jit.script(Reaching(str(trace))).save(str(tmp_path / "reaching.pt"))
    page = person()
    send(page, tmp_path / "reaching.pt")
    expect(page.locator("#probe .wrong")).to_contain_text("Permission denied", timeout=SLOW)
    expect(page.get_by_role("button", name="Start the run")).to_be_disabled()
    assert not trace.exists()


def test_what_could_be_a_file_cannot_be_named(person):
    page = person()
    page.goto("/setup")
    page.get_by_text("A published model or an address").click()
    for address in ("/etc/passwd", "model.py:predict", "hf:../models", "file:///etc/passwd", "timm:../../x"):
        page.locator("[name=address]").fill(address)
        expect(page.locator(".problem")).to_contain_text(f"'{address}' is neither", timeout=SLOW)
