"""From a question to what is run: recipes, words of commands, methods from the registry."""

import io
import json
import tomllib
import zipfile

import pytest
from PIL import Image
from torch import nn

from foible.campaign import load_recipe
from foible.classifiers.network import ModuleNetwork
from foible.domains import load_domain, real_images
from foible.errors import DataError, StoreError
from foible.images import to_bytes
from foible.registry import table
from foible.store.layout import Layout
from foible.ui.jobs import Jobs
from foible.ui.menu import make_menu
from foible.ui.offers import caption
from foible.ui.questions import BORDERS, CHANGES, FAILURES, answered_by
from foible.ui.recognising import Tried, recognise, told_apart
from foible.ui.shelf import Shelf
from foible.ui.studies import Study, read_study, write_study
from foible.ui.suites import keep_images
from foible.zoo import entry, load_model

MODELS = {"domain": "mnist", "generator": "mnist-vae", "classifier": "mnist-lenet1"}


@pytest.fixture
def launched(monkeypatch):
    """What would be started, in place of starting it."""
    seen = []
    monkeypatch.setattr(Jobs, "_launch", lambda self, layout: seen.append(layout.folder.name))
    return seen


def test_every_search_of_the_registry_is_offered_under_one_question():
    menu = make_menu()
    offered = [c.name for key in (FAILURES.key, BORDERS.key, CHANGES.key) for c in menu.methods(key, True)]
    assert sorted(offered) == sorted(table("searches"))
    assert {"descent", "genetic", "random", "transfer"} <= {c.name for c in menu.methods(FAILURES.key, True)}
    assert {c.name for c in menu.methods(BORDERS.key, True)} >= {"shrink", "boundary-genetic"}
    assert {c.name for c in menu.methods(CHANGES.key, True)} >= {"frontier", "nsga2"}
    assert answered_by({"oracle": {"use": "disagree"}}) == CHANGES.key and answered_by({}) == FAILURES.key


def test_borders_aim_at_every_class(visit):
    fields = MODELS | {"question": "borders", "attempts": "90", "baseline": "0"}
    recipe = load_recipe(tomllib.loads(visit().get("/setup/recipe.toml", params=fields).text))
    assert recipe.targets == load_domain("mnist").classes and recipe.oracle.use == "targeted"
    assert recipe.search.use == "shrink" and recipe.name == "mnist-lenet1-borders"


def test_two_models_become_a_diff(visit, launched, runs):
    client = visit()
    page = client.get("/setup?question=changes&domain=mnist").text
    assert "The model it is compared with" in page and "variant:int8-weights" in page
    fields = MODELS | {"question": "changes", "rival": "variant:int8", "baseline": "0", "attempts": "4"}
    said = client.post("/setup/preview", data=fields).json()
    assert said["ready"] and "foible diff mnist-lenet1 --variant int8 --domain mnist" in said["html"]
    assert client.post("/runs", data=fields).headers["location"] == "/runs/mnist-lenet1-changes"
    words = read_study(Layout(runs / "mnist-lenet1-changes")).words
    assert words[:4] == ("diff", "mnist-lenet1", "--variant", "int8") and launched == ["mnist-lenet1-changes"]
    assert words[words.index("--attempts") + 1] == "4" and "oracle=disagree" in words
    for wrong in ({"rival": "variant:none"}, {"rival": "/etc/passwd"}, {"rival": "cifar10-vgg"}, {"rival": ""}):
        assert not client.post("/setup/preview", data=fields | wrong).json()["ready"]


def test_two_files_of_ones_own_are_compared_in_the_sandbox(visit, launched, runs):
    client, content = visit(), entry("mnist-lenet1").path().read_bytes()
    keys = [client.post(f"/uploads?name={n}.safetensors", content=content).json()["key"] for n in ("old", "new")]
    fields = MODELS | {"question": "changes", "classifier": keys[0], "rival": keys[1], "name": "both"}
    assert client.post("/runs", data=fields).status_code == 303
    words = read_study(Layout(runs / "both")).words
    assert words[1:3] == (str(runs / "both" / "old.safetensors"), str(runs / "both" / "new.safetensors"))
    assert client.post(f"/uploads/{keys[0].removeprefix('upload:')}/remove").status_code == 200
    assert not client.post("/setup/preview", data=fields | {"name": ""}).json()["ready"], "it is gone"


def digits(count=4):
    real = real_images(load_domain("mnist"), "sample")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for row in range(count):
            picture = io.BytesIO()
            Image.fromarray(to_bytes(real.images(real.labels.new_tensor([row])))[0, 0]).save(picture, "PNG")
            archive.writestr(f"{int(real.labels[row])}/{row}.png", picture.getvalue())
    return packed.getvalue()


def test_images_to_judge_and_a_test_set_become_commands(visit, launched, runs):
    client = visit()
    suite = client.post("/uploads?of=images&name=my digits.zip", content=digits()).json()["key"]
    answer = client.post("/ask/judging", data={"domain": "mnist", "suite": suite})
    name = answer.headers["location"].removeprefix("/studies/")
    assert name == "my-digits-judged" and len(list((runs / name / "images").rglob("*.png"))) == 4
    assert read_study(Layout(runs / name)).words[:2] == ("judge", str(runs / name / "images"))
    asked = {"domain": "mnist", "suite": suite, "classifier": "mnist-lenet1", "criteria": "nc"}
    answer = client.post("/ask/coverage", data=asked)
    words = read_study(Layout(runs / answer.headers["location"].removeprefix("/studies/"))).words
    assert words[:4] == ("coverage", "mnist-lenet1", "--domain", "mnist") and words[-2:] == ("--criteria", "nc")
    for wrong in ({"domain": "/etc"}, {"classifier": "../x"}, {"criteria": "x"}, {"suite": "upload:other"}):
        assert client.post("/ask/coverage", data=asked | wrong).status_code == 400
    assert client.post("/ask/judging", data={"domain": "mnist"}).status_code == 400
    assert client.post("/uploads?of=images&name=model.pt", content=b"x").status_code == 400


def test_verdicts_are_shown_with_their_images_and_one_filter(visit, launched, runs):
    client = visit()
    suite = client.post("/uploads?of=images&name=d.zip", content=digits(3)).json()["key"]
    client.post("/ask/judging", data={"domain": "mnist", "suite": suite})
    files = sorted(p.relative_to(runs / "d-judged" / "images").as_posix() for p in (runs / "d-judged").rglob("*.png"))
    head = "file,expected,valid,validity,label,label_name,kept,kept_score,ambiguity,why\n"
    rows = [f"{f},1,{'true' if k else 'false'},0.9,1,1,true,0.8,0.1,because {k}\n" for k, f in enumerate(files)]
    (runs / "d-judged" / "verdicts.csv").write_text(head + "".join(rows))
    page = client.get("/studies/d-judged").text
    assert "2 of 3" in page and page.count('class="card"') == 3 and page.count("data:image/png") == 3
    assert client.get("/studies/d-judged?counts=no").text.count('class="card"') == 1
    assert client.get("/studies/d-judged/files/verdicts.csv").text.startswith("file,")
    assert client.get("/studies/d-judged/files/study.json").status_code == 404
    assert 'href="/studies/d-judged"' in client.get("/runs").text


@pytest.mark.parametrize("name", ["../out.png", "/etc/out.png", "a/../../out.png", "a\\..\\out.png"])
def test_no_archive_writes_outside_its_folder(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(StoreError):
        keep_images(tmp_path / "x.zip", tmp_path / "in")
    assert not list(tmp_path.glob("out.png")) and not list((tmp_path / "in").rglob("*.png"))


def test_archives_that_are_none_or_too_much_are_refused(tmp_path, monkeypatch):
    (tmp_path / "no.zip").write_bytes(b"PK no archive")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("readme.txt", "x")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", bytes(3_000_000))
    monkeypatch.setattr("foible.ui.suites.MOST_BYTES", 1_000_000)
    for file in ("no", "empty", "bomb"):
        with pytest.raises(DataError):
            keep_images(tmp_path / f"{file}.zip", tmp_path / file)


def test_a_study_that_came_from_elsewhere_is_not_run(runs, launched):
    layout = Layout(runs / "foreign")
    layout.folder.mkdir()
    write_study(layout, Study("judging", "x", "mnist", "", ("judge", "/etc")))
    facts = json.loads((layout.folder / "study.json").read_text()) | {"words": ["run", "evil.toml"]}
    (layout.folder / "study.json").write_text(json.dumps(facts))
    with pytest.raises(StoreError, match="not asked for by this workbench"):
        Jobs(Shelf(runs)).go_on("foreign")
    assert launched == []


def test_a_domain_is_recognised_when_one_stands_out():
    def tried(**shares):
        return tuple(Tried(name, share, 0.1) for name, share in shares.items())

    assert told_apart(tried(mnist=0.98, svhn=0.3, cifar10=None)) == "mnist"
    assert told_apart(tried(mnist=0.6, svhn=0.55)) is None, "too near to each other"
    assert told_apart(tried(mnist=0.2, svhn=None)) is None and told_apart(()) is None


def test_generators_are_described_in_words():
    said = caption("gan", {"decode_ms": 0.2, "recognised": 0.982})
    assert said == "sharp, quick; 98 % of its images are recognised"
    assert caption("diffusion", {"decode_ms": 21.0}) == "sharp and varied, slow" and caption("own", {}) == "own"


class Watched(nn.Module):
    """A network of the zoo that notes how large the images are that it is asked about."""

    def __init__(self):
        super().__init__()
        self.network, self.sides = load_model(entry("mnist-lenet1").path(), "classifiers").network.module, set()

    def forward(self, images):
        self.sides.add(images.shape[-1])
        return self.network(images)


def test_a_model_that_fits_a_domain_is_not_tried_on_enlarged_images(monkeypatch):
    network = Watched().eval()
    monkeypatch.setattr("foible.ui.recognising.open_network", lambda *_: (ModuleNetwork(network), "mine"))
    monkeypatch.setattr("foible.domains.sources.data_folders", list)
    found = recognise({"use": "mine.pt"}, {"fashion": "fashion", "mnist": "mnist"})
    assert found.domain == "mnist" and network.sides == {28}


def test_a_domain_is_recognised_without_real_images(monkeypatch):
    network = load_model(entry("cifar10-teacher").path(), "classifiers").network
    monkeypatch.setattr("foible.ui.recognising.open_network", lambda *_: (network, "mine"))
    monkeypatch.setattr("foible.domains.sources.data_folders", list)
    found = recognise({"use": "mine.pt"}, {"imagenet": "imagenet", "cifar10": "cifar10"})
    assert found.domain == "cifar10"
    assert "no real images" in found.tried[0].why, "nothing makes photographs from nothing"
