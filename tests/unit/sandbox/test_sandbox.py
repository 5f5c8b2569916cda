"""Hostile models: contained, reported, and gone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from foible.classifiers.load import load_classifier
from foible.domains import load_domain
from foible.errors import ModelError, RecipeError
from foible.sandbox import limits
from foible.testing.toys import write_toy_images
from tests.model_files import ModelFiles


@pytest.fixture(scope="module")
def bars(tmp_path_factory):
    return load_domain(write_toy_images(tmp_path_factory.mktemp("domain") / "bars", per_class=30))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return ModelFiles(tmp_path_factory.mktemp("models"))


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path_factory):
    yield
    deadline = time.monotonic() + 30
    while workers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers()


def workers(parent=None):
    """Processes of a parent's sandboxes that are still there: supervisors, workers and whatever they started."""
    parent = parent or os.getpid()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"foible.sandbox.process" in command and f'"parent": {parent},'.encode() in command:
                found.append(entry.name)
    return found


class SleepsForEver(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while bool(x.min() > -1.0):
            x = x * 1.0
        return x.flatten(1)[:, :3]


class AllocatesWithoutEnd(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        kept = [x]
        while bool(x.min() > -1.0):
            kept.append(torch.ones(8000000) + x.min())
        return kept[-1].flatten(1)[:, :3]


def scripted(module, path):
    torch.jit.script(module).save(str(path))
    return path


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_that_sleeps_for_ever_is_stopped(bars, tmp_path):
    path = scripted(SleepsForEver(), tmp_path / "sleeps.pt")
    with pytest.raises(ModelError, match=r"'sleeps' was stopped in its sandbox: it took more than 2 s"):
        load_classifier(path, domain=bars, untrusted=True, limits={"call_seconds": 2})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_worker_ends_with_its_parent_even_while_it_hangs(bars, tmp_path):
    path = scripted(SleepsForEver(), tmp_path / "sleeps.pt")
    code = f"from foible.classifiers.load import load_classifier; load_classifier({str(path)!r}, domain={bars.folder!r}, untrusted=True)"
    parent = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 180
    while len(workers(parent.pid)) < 2 and time.monotonic() < deadline:  # the supervisor and the worker
        time.sleep(0.1)
    assert len(workers(parent.pid)) == 2
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 30
    while workers(parent.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers(parent.pid)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_model_that_allocates_without_end_is_stopped(bars, tmp_path):
    path = scripted(AllocatesWithoutEnd(), tmp_path / "grows.pt")
    with pytest.raises(ModelError, match=r"'grows' ran out of memory in its worker, which has 0.5 GB"):
        load_classifier(path, domain=bars, untrusted=True, limits={"memory_gb": 0.5})


MISDEEDS = """
import ctypes, os, socket, subprocess, threading
import numpy as np

OUTSIDE = {outside!r}
HERE = os.environ["HOME"]


def attempt(deed):
    try:
        deed()
    except Exception as error:
        return type(error).__name__
    return "did it"


DEEDS = [
    lambda: open(OUTSIDE + "/written", "w"),
    lambda: os.remove(OUTSIDE + "/precious"),
    lambda: open(OUTSIDE + "/precious").read(),
    lambda: os.listdir(OUTSIDE),
    lambda: socket.socket(),
    lambda: os.fork(),
    lambda: subprocess.run(["true"]),
    lambda: os.kill({parent}, 0),
    lambda: os.memfd_create("x"),
    lambda: open("/proc/{parent}/environ").read(),
    lambda: os.environ["FOIBLE_SECRET"],
]
ALLOWED = [
    lambda: open(HERE + "/scratch", "w").write("fine"),
    lambda: threading.Thread(target=print).start(),
]


def predict(images):
    results = [attempt(d) for d in DEEDS]
    permitted = [attempt(d) for d in ALLOWED]
    if "did it" in results or set(permitted) != {{"did it"}}:
        raise RuntimeError(f"REPORT {{results}} {{permitted}}")
    bars = images[..., 0].mean(1).reshape(-1, 3, 2).mean(2)
    return -40 * np.abs(bars - 0.8)
"""


def test_a_model_can_do_nothing_but_answer(bars, tmp_path, monkeypatch):
    monkeypatch.setenv("FOIBLE_SECRET", "s3cret")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    (tmp_path / "evil.py").write_text(MISDEEDS.format(outside=str(outside), parent=os.getpid()))
    classifier = load_classifier(f"{tmp_path / 'evil.py'}:predict", domain=bars, untrusted=True)
    assert [p.name for p in outside.iterdir()] == ["precious"]
    note = next(n for n in classifier.notes if n.startswith("sandbox"))
    assert "no network" in note and "Landlock" in note and "limited memory" in note
    scratch = classifier.network.worker.scratch
    assert scratch.is_dir()
    classifier.close()
    assert not scratch.exists()
    with pytest.raises(ModelError, match="it has ended"):
        classifier(torch.rand(1, 1, 6, 6))


CRASH = """
import ctypes, os, sys, threading
import numpy as np


def predict(images):
    if len(images) == 1:
        ctypes.string_at(0)
    if len(images) == 3:
        raise ValueError("no threes, \\x1b[31mplease")
    bars = images[..., 0].mean(1).reshape(-1, 3, 2).mean(2)
    return -40 * np.abs(bars - 0.8)
"""


def test_a_crash_is_reported_and_takes_nothing_down(bars, tmp_path):
    (tmp_path / "crash.py").write_text(CRASH)
    classifier = load_classifier(f"{tmp_path / 'crash.py'}:predict", domain=bars, untrusted=True)
    with pytest.raises(RuntimeError, match=r"ValueError: no threes, \\x1b\[31mplease"):
        classifier(torch.rand(3, 1, 6, 6))
    assert classifier(torch.rand(2, 1, 6, 6)).shape == (2, 3)
    with pytest.raises(ModelError, match="it crashed"):
        classifier(torch.rand(1, 1, 6, 6))


class Marker:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_an_allowed_pickle_still_cannot_write(bars, tmp_path):
    torch.save(Marker(str(tmp_path / "marker")), tmp_path / "evil.pt")
    with pytest.raises(ModelError, match="evil"):
        load_classifier(tmp_path / "evil.pt", domain=bars, untrusted=True, pickles=True)
    assert not (tmp_path / "marker").exists()


def test_same_scores_gradients_and_activations_as_in_process(bars, files):
    settings = {"domain": bars, "factory": files.factory, "range": (0, 1)}
    inside, outside = (load_classifier(files.path(".pth"), **settings, untrusted=u) for u in (True, False))
    images = torch.rand(5, 1, 6, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(inside(images), outside(images))
    assert inside.offers == outside.offers and inside.layers() == outside.layers()
    gradients = []
    for classifier in (inside, outside):
        seen = images.clone().requires_grad_()
        classifier(seen)[:, 1].sum().backward()
        watched = images.clone().requires_grad_()
        logits, activations = classifier.inspect(watched, ["average"])
        assert torch.equal(activations["average"], files.module().average(images))
        (logits[:, 0].sum() + activations["average"].square().sum()).backward()
        gradients.append((seen.grad, watched.grad))
    for inner, outer in zip(*gradients, strict=True):
        assert torch.equal(inner, outer) and float(inner.abs().sum()) > 0
    large = torch.rand(200_000, 1, 6, 6)  # more than the first block of shared memory holds
    assert torch.equal(inside(large), outside(large))
    inside.close()


def test_no_isolation_no_untrusted_file_unless_the_user_insists(bars, files, monkeypatch):
    monkeypatch.setattr(limits, "NEEDED", limits.NEEDED | {"unobtainium"})
    monkeypatch.setitem(limits.MEANING, "unobtainium", "made of unobtainium")
    path = files.path(".pt")
    with pytest.raises(ModelError, match="cannot isolate it: lacking unobtainium") as refusal:
        load_classifier(path, domain=bars, untrusted=True)
    assert "--trusted" in refusal.value.hint
    classifier = load_classifier(path, domain=bars, untrusted=True, insist=True)
    assert any("NOT protected: made of unobtainium" in note for note in classifier.notes)
    classifier.close()


def test_files_that_carry_code_run_in_the_sandbox_unless_trusted(bars, files):
    inside = load_classifier(files.path(".pt"), domain=bars, range=(0, 1))
    outside = load_classifier(files.path(".pt"), domain=bars, range=(0, 1), untrusted=False)
    assert any(note.startswith("sandbox: no network") for note in inside.notes)
    assert any("it may read and write your files" in note for note in outside.notes)
    inside.close()


def test_limits_without_a_sandbox_are_refused(bars, files):
    for model in (files.path(".onnx"), files.module(), files.function):
        with pytest.raises(RecipeError, match="no limit holds"):
            load_classifier(model, domain=bars, limits={"memory_gb": 2})
    with pytest.raises(RecipeError, match="no sandbox can hold it"):
        load_classifier(files.module(), domain=bars, untrusted=True)
