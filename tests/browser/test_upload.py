"""A classifier of one's own: a good one is tried and run, a hostile one is refused, nobody else sees either."""

import pickle
import tomllib
from dataclasses import dataclass

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from foible.classifiers.adapting.probe import Line
from foible.domains import load_domain
from foible.store import open_run
from foible.ui.probing import Probe
from foible.ui.render import html
from foible.zoo import entry, load_model

from .conftest import SLOW, in_all_looks, in_both_ways


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


@dataclass(frozen=True)
class Own:
    """A network of one's own, what it is for, and where a visitor is before it is recognised."""

    model: str
    shape: tuple[int, int, int]
    domain: str
    generator: str
    elsewhere: str


OWN = {
    "digits": Own("mnist-lenet5", (1, 28, 28), "mnist", "mnist-vae", "cifar10"),
    "photos": Own("cifar10-teacher", (3, 32, 32), "cifar10", "cifar10-gan", "mnist"),
}


def send(page, path):
    page.goto("/setup")
    page.locator("#file").set_input_files(path)


def is_understood(page):
    """It is recognised; where few real images cannot tell two conventions apart, the visitor says which it is."""
    probe = page.locator("#probe")
    expect(page.locator("#recognised")).to_contain_text("Recognised", timeout=SLOW)
    asked = probe.get_by_role("button", name="range 0,1", exact=True)
    expect(asked.or_(probe.get_by_text("'my-own-net' is right on"))).to_be_visible(timeout=SLOW)
    if asked.is_visible():
        asked.click()
    expect(probe).to_contain_text("'my-own-net' is right on", timeout=SLOW)
    expect(probe).to_contain_text("sandbox: no network")


def is_described(page, own):
    """What is said of it is tried at once, and is in the command and in the recipe file."""
    probe, classes = page.locator("#probe"), list(load_domain(own.domain).classes)
    turned = ",".join([*classes[:8], classes[9], classes[8]])
    if not page.get_by_label("Value range").is_visible():
        page.get_by_text("How it wants its images").click()
    page.get_by_label("Value range").fill("0,")
    expect(page.locator(".problem")).to_contain_text("range '0,' is not a list of numbers", timeout=SLOW)
    page.get_by_label("Value range").fill("0,1")
    page.get_by_label("Mean", exact=True).fill("0.25")
    page.get_by_label("Standard deviation").fill("0.5")
    page.get_by_label("Classes in the order").fill(turned)
    expect(probe).to_contain_text("mean 0.25, std 0.5 (as you say)", timeout=SLOW)
    expect(probe).to_contain_text("columns [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]", timeout=SLOW)
    page.get_by_text("Recipe and command").click()
    expect(page.locator("#command")).to_contain_text(
        f"foible test my-own-net.pt --domain {own.domain} --generator {own.generator} --range=0,1 --mean=0.25 "
        f"--std=0.5 --classes={turned} --untrusted"
    )
    in_all_looks(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Recipe file").click()
    said = tomllib.loads(download.value.path().read_text())["classifier"]
    assert said["mean"] == [0.25] and said["range"] == [0.0, 1.0] and said["classes"][-1] == classes[8]
    for label in ("Mean", "Standard deviation", "Classes in the order"):
        page.get_by_label(label, exact=label == "Mean").fill("")


@in_both_ways
def test_a_classifier_of_ones_own_is_recognised_probed_described_run_and_removed(
    person, bench, save, name, width, scheme
):
    page, own, run = person(width, scheme), OWN[name], f"own-{name}"
    page.goto(f"/setup?domain={own.elsewhere}")
    page.locator("#file").set_input_files(save("my-own-net.pt", own.model, own.shape))
    expect(page.locator("#upload-status")).to_have_text("my-own-net.pt is here.", timeout=SLOW)
    is_understood(page)
    expect(page.locator(f"[name=domain][value={own.domain}]")).to_be_checked()
    page.get_by_text("More: generator").click()
    page.locator(f"[name=generator][value={own.generator}]").check()
    is_described(page, own)
    for field, value in {"attempts": 3, "evaluations": 300, "baseline": 0, "name": run}.items():
        page.locator(f"[name={field}]").fill(str(value))
    expect(page.locator("#panel .cost b")).to_contain_text("if no search ends early", timeout=SLOW)
    page.get_by_role("button", name="Find failures").click()
    page.wait_for_url(f"**/runs/{run}")
    expect(page.locator(".progress .state")).to_have_text("complete", timeout=SLOW)
    assert (bench.runs / run / "my-own-net.pt").is_file()
    assert any("my-own-net" in name for name in open_run(bench.runs / run).manifest.digests)
    page.goto("/setup")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("#upload-status")).to_have_text("Removed.")
    page.reload()
    expect(page.locator("#f-classifier")).not_to_contain_text("my-own-net")


def test_two_people_do_not_see_each_others_uploads(person, save):
    one, other = person(400, "dark"), person(400, "dark")
    send(one, save("my-own-net.pt", "mnist-lenet1", (1, 28, 28)))
    expect(one.locator("#upload-status")).to_contain_text("is here", timeout=SLOW)
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


@in_both_ways
def test_what_cannot_be_told_is_asked_and_said_with_one_click(person, save, name, width, scheme):
    own, page = OWN[name], person(width, scheme)
    choices = ({"range": "0,1"}, {"range": "0,255", "mean": "120.5"})
    asked = Probe((Line("wrong", "set-up", "how the model wants its images cannot be told"),), None, choices)
    answer = {"html": html("probe", probe=asked), "fine": False}
    page.route(
        "**/setup/probe*",
        lambda route: (
            route.continue_() if "range=0%2C255" in (route.request.post_data or "") else route.fulfill(json=answer)
        ),
    )
    known = {"domain": own.domain, "words": "Recognised."}  # which takes its time, and is tested above
    page.route("**/uploads/recognise*", lambda route: route.fulfill(json=known))
    page.goto(f"/setup?domain={own.domain}")
    page.locator("#file").set_input_files(save("my-own-net.pt", own.model, own.shape))
    expect(page.locator("#probe .wrong")).to_contain_text("cannot be told", timeout=SLOW)
    in_all_looks(page)
    page.locator("#probe").get_by_role("button", name="range 0,255, mean 120.5").click()
    expect(page.get_by_label("Value range")).to_have_value("0,255")
    expect(page.get_by_label("Mean", exact=True)).to_have_value("120.5")
    expect(page.locator("#probe")).to_contain_text("values 0 to 255, mean 120.5, std 1 (as you say)", timeout=SLOW)


def test_what_one_tab_looks_at_another_does_not_interrupt(person):
    page = person()
    page.goto("/")
    looks = """tabs => Promise.all(tabs.map((tab, k) => form(`/setup/probe?tab=${tab}`, {
        domain: "mnist", generator: "mnist-vae", classifier: ["mnist-lenet4", "mnist-lenet5"][k] })))"""
    first, second = page.evaluate(looks, ["one", "one"])
    assert second["fine"] and not first["fine"], "in one tab the newer question stands"
    assert all(said["fine"] for said in page.evaluate(looks, ["one", "other"]))


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
