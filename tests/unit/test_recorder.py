"""The recorder: batches are committed in order while the engine goes on, and nothing is told before it is there."""

import dataclasses
import hashlib
import threading

import pytest
import torch

import foible
from foible.campaign.events import Ended, Found, Round
from foible.campaign.recorder import Recorder
from foible.errors import StoreError
from foible.images import png_bytes
from foible.records import Finding, Outcome
from foible.store import RunWriter, open_run
from foible.store.layout import Layout
from foible.testing.toys import toy_recipe
from foible.types import Arm, Status
from tests.by_hand import by_tested
from tests.unit.test_store import manifest

PNG = png_bytes(torch.rand(1, 4, 4))


def found(attempt, number=0, **changes):
    digest, files = hashlib.sha256(PNG).hexdigest(), (f"images/{attempt}-{number}.png", f"images/{attempt}-origin.png")
    latents = (torch.zeros(2), torch.zeros(2))
    said = (by_tested(0.9, 0.1), by_tested(0.2, 0.8))
    finding = Finding(Arm.SEARCH, attempt, 0, 1, 40, 3, *said, 1.5, 0.5, *latents, *files, digest, digest, ())
    return Found(dataclasses.replace(finding, number=number, **changes), PNG, PNG)


def ended(attempt):
    return Ended(Outcome(Arm.SEARCH, attempt, 0, "sample", Status.FOUND, 0, findings=1))


def round_over():
    none = torch.empty(0, dtype=torch.long)
    return Round(Arm.SEARCH, 10, none, none, none, none.float())


@pytest.fixture
def writer(tmp_path):
    with RunWriter(tmp_path / "run", manifest()) as opened:
        yield opened


def test_what_is_told_is_committed_and_its_files_are_there(writer, tmp_path):
    def listen(progress):
        findings = list(open_run(tmp_path / "run").findings())
        assert len(findings) >= progress.found
        assert all((tmp_path / "run" / f.image).read_bytes() == PNG for f in findings)
        told.append((progress.done, progress.found, progress.evaluations))

    told = []
    with Recorder(writer, Arm.SEARCH, 5, 100, listen) as recorder:
        for attempt in range(3):
            recorder.write([found(attempt), ended(attempt), round_over()])
        recorder.flush()
        assert told == [(1, 1, 10), (2, 2, 20), (3, 3, 30)]


def test_a_batch_is_written_while_the_next_is_computed(writer, monkeypatch):
    go, add = threading.Event(), RunWriter.add_outcome
    monkeypatch.setattr(RunWriter, "add_outcome", lambda *a: (go.wait(10), add(*a)))
    with Recorder(writer, Arm.SEARCH, 5, 100, lambda _: None) as recorder:
        recorder.write([ended(0)])  # comes back although nothing is written yet
        go.set()
    assert writer.done(Arm.SEARCH) == {0}


def test_what_was_handed_over_is_committed_when_the_engine_is_interrupted(writer):
    recorder = Recorder(writer, Arm.SEARCH, 5, 100, lambda _: None)
    with pytest.raises(KeyboardInterrupt), recorder:
        recorder.write([found(0), ended(0)])
        raise KeyboardInterrupt
    assert writer.done(Arm.SEARCH) == {0}


def test_a_failing_disk_is_said_by_the_next_call_and_the_batch_is_not_there(writer, monkeypatch):
    monkeypatch.setattr("foible.store.writer.write_new", _full)
    recorder = Recorder(writer, Arm.SEARCH, 5, 100, lambda _: None)
    with pytest.raises(StoreError, match="disk is full"), recorder:
        recorder.write([ended(1), found(0)])
        recorder.write([])
    assert writer.done(Arm.SEARCH) == set()


def _full(*_):
    raise StoreError("the disk is full")


def test_findings_of_one_origin_share_its_file(writer, monkeypatch):
    from foible.store import writer as place

    written, write = [], place.write_new
    monkeypatch.setattr(place, "write_new", lambda path, content: (written.append(path.name), write(path, content)))
    with Recorder(writer, Arm.SEARCH, 5, 100, lambda _: None) as recorder:
        recorder.write([found(0, number) for number in range(3)])
    assert written == ["0-origin.png", "0-0.png", "0-1.png", "0-2.png"]


def test_bytes_that_are_not_those_of_the_finding_are_refused(writer):
    recorder = Recorder(writer, Arm.SEARCH, 5, 100, lambda _: None)
    with pytest.raises(StoreError, match="not what its finding says"), recorder:
        recorder.write([found(0, image_sha256="0" * 64)])
    assert writer.found(Arm.SEARCH) == 0


@pytest.mark.parametrize("name", ["images/../run.sqlite", "/etc/x.png", "x.png", "images/", "images/..", "images/a\\b"])
def test_a_picture_is_written_into_the_folder_of_pictures_alone(name, tmp_path):
    with pytest.raises(StoreError, match="not the name of a picture"):
        Layout(tmp_path).picture(name)


def test_a_folder_of_pictures_that_leads_elsewhere_is_refused(toy_images, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "images").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="leaves the run"):
        foible.run(toy_recipe(toy_images), tmp_path / "run")
