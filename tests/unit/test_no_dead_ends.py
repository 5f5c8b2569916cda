"""Nothing dead-ends: what fails says why and what to do, and never with the gate's exit code."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from foible.campaign import assemble, load_recipe
from foible.classifiers.kinds.archive import whole_model
from foible.classifiers.kinds.recognise import is_own_model, recognise
from foible.cli import main
from foible.cli.main import app
from foible.domains import load_domain, real_images
from foible.domains.fetch import fetch
from foible.errors import DataError, ModelError
from foible.images import png_bytes
from foible.testing.toys import toy_recipe, write_toy_images


def foible(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture
def toys(tmp_path):
    return write_toy_images(tmp_path / "toys")


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without datasets."""
    monkeypatch.setattr("foible.domains.sources.data_folders", list)


def test_a_generator_that_samples_needs_no_real_images(nowhere):
    recipe = load_recipe("gift-cifar10-gan-high", {"validators": [], "attempts": 1})
    try:
        campaign = assemble(recipe)
    except ModelError:
        pytest.skip("the weights of the CIFAR-10 GAN are not installed")
    assert "made by 'cifar10-gan' in place of real ones" in campaign.data.source
    images = campaign.data.images(torch.arange(3))
    assert images.shape == (3, 3, 32, 32) and torch.equal(images, campaign.data.images(torch.arange(3)))


def test_a_generator_that_starts_from_real_images_says_how_to_get_them(nowhere):
    with pytest.raises(DataError) as said:
        assemble(load_recipe("gift-cifar10-vae-high", {"validators": []}))
    assert "foible data get cifar10" in said.value.hint


def test_data_says_what_is_where_and_cannot_be_fetched_offline(nowhere, monkeypatch):
    listed = foible("data")
    assert foible("data", "ls").output == listed.output
    assert listed.exit_code == 0 and "none: fetch them: foible data get cifar10" in listed.output
    assert "the sample that comes with foible" in listed.output

    class Offline:
        class datasets:
            @staticmethod
            def CIFAR10(*_, **__):
                raise OSError("no route to host")

    monkeypatch.setattr("foible.domains.fetch.import_torchvision", lambda: Offline)
    with pytest.raises(DataError, match="no route to host") as said:
        fetch(load_domain("cifar10"))
    assert "is there a network" in said.value.hint
    assert "cannot fetch images of 'imagenet'" in foible("data", "get", "imagenet").output
    assert "none: fetch them: foible data get emnist" in listed.output


class Photographs:
    """torchvision's CIFAR-10."""

    def __init__(self, _root, download, train):
        assert download
        count = 20 if train else 10
        self.data, self.targets = np.zeros((count, 32, 32, 3), np.uint8), [k % 10 for k in range(count)]
        self.data[:, 0] = 255  # the first row


class Letters:
    """torchvision's EMNIST: letters lie on their side, and A is class 1."""

    def __init__(self, _root, split, download, train):
        assert download and split == "letters"
        count = 52 if train else 26
        self.data, self.targets = torch.zeros(count, 28, 28, dtype=torch.uint8), torch.arange(count) % 26 + 1
        self.data[:, :, 0] = 255  # the first row, on its side


class Numbers:
    """torchvision's SVHN: channels first, and the labels are called labels."""

    def __init__(self, _root, split, download):
        assert download
        count = 20 if split == "train" else 10
        self.data, self.labels = np.zeros((count, 3, 32, 32), np.uint8), np.arange(count) % 10
        self.data[:, :, 0] = 255


class Fetching:
    class datasets:
        CIFAR10, EMNIST, SVHN = Photographs, Letters, Numbers


@pytest.mark.parametrize(("name", "classes"), [("cifar10", 10), ("emnist", 26), ("svhn", 10)])
def test_fetched_images_are_stored_as_one_file_upright_and_with_our_class_numbers(name, classes, monkeypatch, tmp_path):
    monkeypatch.setattr("foible.domains.fetch.import_torchvision", lambda: Fetching)
    domain = load_domain(name)
    path = fetch(domain, tmp_path)
    assert path == tmp_path / domain.file
    stored = real_images(domain, tmp_path, "test")
    assert stored.labels.tolist() == list(range(classes))
    image = stored.images(torch.tensor([0]))[0]
    assert bool((image[:, 0] == 1).all()) and bool((image[:, 1:] == 0).all())


CODE = {
    "the factory fails": "def make():\n    raise ValueError('boom')\n",
    "the factory exits": "import sys\ndef make():\n    sys.exit(0)\n",
    "the file fails": "1 / 0\n",
    "nothing of that name": "x = 1\n",
    "no Python at all": "def make(:\n",
}


@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_code_that_fails_is_the_users_and_not_the_gates(code, toys, tmp_path):
    (tmp_path / "net.py").write_text(code)
    for use in (f"{tmp_path / 'net.py'}:make",):
        ended = foible("test", use, "--domain", toys, "--look")
        assert ended.exit_code == 2 and "error:" in ended.output and "Traceback" not in ended.output, ended.output


MAKES = """
import torch
from torch import nn

class Bars(nn.Module):
    def forward(self, x):
        return x[:, 0].mean(1).reshape(-1, 3, 2).mean(2) * 10

def bare():
    return Bars()

def word():
    return "no network"
"""


def test_code_that_makes_a_bare_network_is_tested_like_any_other(toys, tmp_path):
    (tmp_path / "net.py").write_text(MAKES)
    for name, more in (("bare", []), ("Bars", ["--range=0,1"])):
        ended = foible("test", f"{tmp_path / 'net.py'}:{name}", "--domain", toys, "--look", *more)
        assert ended.exit_code == 0 and f"classifier 'net-{name}' is right on" in ended.output, ended.output
    ended = foible("test", f"{tmp_path / 'net.py'}:word", "--domain", toys, "--look")
    assert ended.exit_code == 2 and "gives a str, which is no classifier" in ended.output
    ended = foible("test", "mnist-lenet1", "--domain", "mnist", "--untrusted", "--look")
    assert ended.exit_code == 2 and "no sandbox is needed" in ended.output


def test_a_function_that_ends_the_program_or_leaves_threads_is_noticed(toys, tmp_path):
    body = "    return images[..., 0].mean(1).reshape(-1, 3, 2).mean(2) * 10\n"
    (tmp_path / "exits.py").write_text("import sys\ndef predict(images):\n    sys.exit(0)\n")
    ended = foible("test", f"{tmp_path / 'exits.py'}:predict", "--domain", toys, "--look")
    assert ended.exit_code == 2 and "ended the program" in ended.output
    (tmp_path / "threads.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()\ndef predict(images):\n"
        + body
    )
    words = ["test", f"{tmp_path / 'threads.py'}:predict", "--domain", str(toys), "--look"]
    done = subprocess.run(
        [sys.executable, "-m", "foible", *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0 and "threads that were left running are ended" in done.stderr


def test_an_interruption_that_a_library_turns_into_an_error_is_still_one(monkeypatch, capsys):
    def loading():
        main._interrupted.set()
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr(main, "_interrupted", type(main._interrupted)())
    assert main._exit_code(loading) == 3
    assert "stopped; the same command goes on" in capsys.readouterr().err


def test_suffixes_in_capitals_and_names_in_any_script(tmp_path):
    for name in ("MODEL.ONNX", "модель.onnx", "模型.Onnx"):
        assert is_own_model(name, {}) and recognise(name, {}).kind == "onnx"


def test_files_are_called_what_they_are(tmp_path):
    torch.save(nn.Linear(2, 2), tmp_path / "whole.pt")
    torch.save(nn.Linear(2, 2).state_dict(), tmp_path / "weights.pt")
    assert whole_model(tmp_path / "whole.pt") and not whole_model(tmp_path / "weights.pt")
    ended = foible("test", tmp_path / "whole.pt", "--domain", "mnist", "--data", "sample", "--look")
    assert ended.exit_code == 2 and "a whole model saved with torch.save(model)" in ended.output
    shutil.copy(tmp_path / "weights.pt", tmp_path / "cut.pt2")
    ended = foible("test", tmp_path / "cut.pt2", "--domain", "mnist", "--data", "sample", "--look")
    assert ended.exit_code == 2 and "is no exported program" in ended.output


def test_a_misspelt_domain_is_recognised(tmp_path):
    for more in ([], ["--look"]):
        ended = foible("test", tmp_path / "x.onnx", "--domain", "mnits", *more)
        assert ended.exit_code == 2 and "did you mean 'mnist'" in ended.output


def test_nothing_is_cut_in_a_pipe_and_the_version_is_known():
    done = subprocess.run(
        [sys.executable, "-m", "foible", "ls", "zoo"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "40"},
    )
    assert "mnist-deepconv" in done.stdout and "…" not in done.stdout
    assert foible("--version").output.startswith("foible ")


def test_what_was_seen_as_json(toys, tmp_path):
    (tmp_path / "p.py").write_text(
        "def predict(images):\n    return images[..., 0].mean(1).reshape(-1, 3, 2).mean(2) * 10\n"
    )
    ended = foible("test", f"{tmp_path / 'p.py'}:predict", "--domain", toys, "--look", "--json")
    facts = json.loads(ended.stdout)
    assert facts["fine"] and {line["about"] for line in facts["lines"]} >= {"accuracy"}


def test_a_broken_gate_has_a_line_even_when_all_is_quiet(toys, tmp_path):
    import tomli_w

    (tmp_path / "r.toml").write_text(tomli_w.dumps(toy_recipe(toys, attempts=2)))
    ended = foible("run", tmp_path / "r.toml", "--out", tmp_path / "run", "-q", "--fail-if", "failure_rate >= 0")
    assert ended.exit_code == 1 and "gate failed" in ended.output


def test_a_shell_completes_verbs():
    typed = {"_FOIBLE_COMPLETE": "complete_bash", "COMP_WORDS": "foible re", "COMP_CWORD": "1"}
    done = CliRunner().invoke(app, [], env=typed, prog_name="foible")
    assert {"replay", "report", "resume"} <= set(done.stdout.split())


def test_where_an_endpoint_answers_can_be_said(monkeypatch):
    asked = []

    def note(_, *told, **more):
        asked.append(str((told, more)))
        raise ModelError("enough", "seen")

    monkeypatch.setattr("foible.classifiers.kinds.remote.RemoteNetwork.__init__", note)
    endpoint = ("https://models.example/x", "--answer", "result.scores")
    ended = foible("test", *endpoint, "--domain", "mnist", "--data", "sample", "--look")
    assert ended.exit_code == 2 and "result.scores" in asked[0]


def test_the_workbench_is_told_where_images_are(monkeypatch, tmp_path):
    served = []
    monkeypatch.setattr("foible.ui.server.serve", lambda *a, **k: served.append(os.environ["FOIBLE_DATA"]))
    monkeypatch.setenv("FOIBLE_DATA", "elsewhere")
    ended = foible("ui", "--data", tmp_path / "none")
    assert ended.exit_code == 2 and "there is no folder" in ended.output and not served
    foible("ui", "--data", tmp_path, "--runs", tmp_path)
    assert served == [str(tmp_path)]


def test_a_port_that_cannot_be_is_refused(tmp_path):
    ended = foible("ui", "--runs", tmp_path, "--port", 99999)
    assert ended.exit_code == 2 and "less than or equal to 65535" in ended.output and "unexpected" not in ended.output


def test_timm_without_its_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    ended = foible("test", "timm:resnet18", "--domain", "mnist", "--data", "sample", "--look")
    assert ended.exit_code == 2 and "foible[hub]" in ended.output


def test_judge_goes_on_after_a_bad_image(tmp_path):
    sample = real_images(load_domain("mnist"), "sample")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "good.png").write_bytes(png_bytes(sample.images(torch.tensor([0]))[0]))
    (tmp_path / "images" / "bad.png").write_bytes(b"no picture")
    ended = foible("judge", tmp_path / "images", "--domain", "mnist")
    assert "1 of 1" in ended.output and "bad.png" in ended.output and "Traceback" not in ended.output
