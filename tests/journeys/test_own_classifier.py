"""A classifier of the user's own, from its file to replayed findings: every kind, and the same weights in three formats."""

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import tomli_w
import torch
from safetensors.torch import save_file

from foible.campaign import assemble, check, load_recipe, run
from foible.campaign.replay import replay
from foible.digest import sha256
from foible.domains import load_domain, real_images
from foible.domains.library import import_torchvision
from foible.errors import CheckError, ModelError, RecipeError
from foible.store import open_run
from foible.testing.toys import toy_recipe, write_toy_images
from foible.types import Arm
from tests.journeys.conftest import foible
from tests.model_files import ModelFiles, fitted

TOLERANCE = 1e-4  # between the probabilities that three formats give the same finding


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return ModelFiles(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return write_toy_images(tmp_path_factory.mktemp("toys") / "toys", per_class=20)


def campaign_with(images, classifier, **changes):
    recipe = toy_recipe(images, classifier=classifier, budget={"evaluations": 1500}, **changes)
    return assemble(load_recipe(recipe))


def searched(images, classifier, folder, **changes):
    """Load, probe, search, look again; gives the run."""
    campaign = campaign_with(images, classifier, **changes)
    assert not check(campaign).wrong
    assert run(campaign, folder) == "complete"
    opened = open_run(folder)
    again = list(replay(opened))
    assert again and all(r.fails and r.predicted == r.finding.predicted for r in again)
    return opened


def findings(opened):
    return {(arm, f.attempt): f for arm in Arm for f in opened.findings(arm)}


def test_three_formats_find_the_same(files, images, tmp_path):
    runs = [searched(images, files.path(s), tmp_path / s[1:]) for s in (".pt", ".pt2", ".onnx")]
    first, *others = map(findings, runs)
    assert len(first) >= 5
    for opened, found in zip(runs[1:], others, strict=True):
        assert [(o.attempt, o.status, o.evaluations) for o in opened.outcomes(Arm.SEARCH)] == [
            (o.attempt, o.status, o.evaluations) for o in runs[0].outcomes(Arm.SEARCH)
        ]
        for key, finding in found.items():
            assert finding.image_sha256 == first[key].image_sha256 and finding.predicted == first[key].predicted
            assert np.allclose(finding.probabilities, first[key].probabilities, atol=TOLERANCE)
    for opened, suffix in zip(runs, (".pt", ".pt2", ".onnx"), strict=True):
        path = files.folder / f"bars{suffix}"
        assert opened.manifest.digests[path.name] == sha256(path)


@pytest.mark.parametrize("kind", ["weights", "function", "table", "sandboxed"])
def test_other_kinds_of_file(files, images, tmp_path, kind):
    classifier = {
        "weights": {"use": files.path(".safetensors"), "factory": files.factory},
        "function": files.function,
        "table": {"use": "torchscript", "path": files.path(".pt"), "range": [0, 1], "output": "logits"},
        "sandboxed": {"use": files.path(".pt"), "untrusted": True},
    }[kind]
    opened = searched(images, classifier, tmp_path / "run")
    expected = {"weights": "net.py", "function": "predict.py"}.get(kind, "bars.pt")
    assert opened.manifest.digests[expected] == sha256(files.folder / expected)


def test_a_hub_model(images, tmp_path):
    timm = import_timm()
    module = timm.create_model("test_resnet", num_classes=3, in_chans=1)
    fitted(module, module.fc, real_images(load_domain(images)), module, lambda x: x)
    save_file(module.state_dict(), tmp_path / "w.safetensors")
    classifier = {"use": "timm:test_resnet", "weights": str(tmp_path / "w.safetensors"), "range": [0, 1]}
    opened = searched(images, classifier, tmp_path / "run")
    assert opened.manifest.digests["w.safetensors"] == sha256(tmp_path / "w.safetensors")


def import_timm():
    import_torchvision()
    import timm

    return timm


def test_an_endpoint(files, images, tmp_path):
    module = files.module()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            scores = module(torch.tensor(body["instances"]).permute(0, 3, 1, 2)).tolist()
            content = json.dumps({"predictions": scores}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/"
        opened = searched(
            images,
            {"use": url, "private": True},
            tmp_path / "run",
            attempts=3,
            engine={"lanes": 4},
            baseline={"attempts": 0},
        )
        assert opened.manifest.chunk == 32  # the batch of the endpoint, not measured at its expense
        assert "what answers there cannot be checked" in opened.manifest.digests[url]
        server.shutdown()
        server.server_close()
        with pytest.raises(ModelError, match="gave no answer"):
            campaign_with(images, {"use": url, "private": True, "retries": 0})
    finally:
        server.server_close()


def test_a_live_classifier_brings_its_digests(files, images, tmp_path):
    from foible.classifiers.load import load_classifier

    live = load_classifier(files.path(".pt"), domain=images)
    campaign = assemble(load_recipe(toy_recipe(images)), classifier=live)
    assert campaign.digests["bars.pt"] == sha256(files.folder / "bars.pt")


def test_a_changed_file_is_not_resumed(files, images, tmp_path):
    own = tmp_path / "own.pt"
    shutil.copy(files.path(".pt"), own)
    searched(images, str(own), tmp_path / "run")
    shutil.copy(files.path(".pt", files.module(0.75), "other"), own)
    with pytest.raises(RecipeError, match=r"digests\.own\.pt"):
        run(campaign_with(images, str(own)), tmp_path / "run")


def test_a_permuted_model_is_refused_before_the_search(files, images, tmp_path):
    class Turned(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x).roll(-1, 1)

    path = files.path(".pt", Turned(files.module()), "turned")
    with pytest.raises(CheckError, match="another order"):
        run(campaign_with(images, path), tmp_path / "run")
    assert not (tmp_path / "run" / "manifest.json").exists()


def test_the_command_line(files, images, tmp_path):
    toys = toy_recipe(images)["generator"]
    common = [files.path(".pt"), "--domain", images]
    looked = foible("test", *common, "--look", "--range", "0,1", cwd=tmp_path)
    assert looked.returncode == 0, looked.stderr
    assert "as you say" in looked.stdout and "right on 100.0%" in looked.stdout
    done = foible("test", *common, "--generator", toys, "--attempts", 3, "--set", "baseline.attempts=0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tried: right on 100.0%" in done.stdout
    assert open_run(tmp_path / "runs" / "test-bars").manifest.recipe["classifier"]["use"] == files.path(".pt")
    lost = foible("test", *common, cwd=tmp_path)
    assert lost.returncode == 2 and "--generator" in lost.stderr and "Traceback" not in lost.stderr
    bad = foible("test", *common, "--look", "--range", "black,white", cwd=tmp_path)
    assert bad.returncode == 2 and "not a list of numbers" in bad.stderr


def test_recipe_file_with_a_table(files, images, tmp_path):
    recipe = toy_recipe(images, classifier={"use": "onnx", "path": files.path(".onnx"), "mean": [0.0], "std": [1.0]})
    path = tmp_path / "own.toml"
    path.write_text(tomli_w.dumps(recipe))
    campaign = assemble(load_recipe(path))
    assert campaign.classifier.name == "bars" and "as you say" in campaign.classifier.notes[0]
