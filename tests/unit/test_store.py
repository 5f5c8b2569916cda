"""The run folder: what is written is what is read, by others too, and damage is named."""

import sqlite3
import threading

import numpy as np
import pytest
import torch

from foible.errors import RecipeError, StoreError
from foible.images import png_bytes, read_png
from foible.records import Finding, Outcome, Verdict
from foible.store import RunWriter, open_run
from foible.store.manifest import Manifest, differences, versions
from foible.store.repair import repair
from foible.types import Arm, Status
from tests.by_hand import by_tested, record, save_image


def manifest(**changes):
    recipe = {"name": "test", "attempts": 5, "budget": {"evaluations": 9, "seconds": None}, "engine": {"lanes": 3}}
    facts = {
        "recipe": recipe,
        "digests": {"w": "00"},
        "data": "none",
        "classes": ("a", "b"),
        "shape": (1, 4, 4),
        "chunk": 8,
        "packing": "full",
    }
    rest = {"device": "cpu", "threads": 1, "versions": versions(), "created": "2026-01-01T00:00:00+00:00"}
    return Manifest(**(facts | rest | changes))


def write_finding(writer, attempt, arm=Arm.SEARCH):
    image = torch.full((1, 4, 4), attempt / 255)
    path, digest = save_image(writer, f"{attempt:06d}-failure.png", image)
    save_image(writer, f"{attempt:06d}-origin.png", image)
    finding = Finding(
        arm, attempt, 0, 1, 40, 3, by_tested(0.9, 0.1), by_tested(0.2, 0.8), 1.5, 0.5,
        torch.tensor([[0.1, 1 / 3]]), torch.tensor([[0.0, 1e-30]]),
        f"images/{path.name}", f"images/{attempt:06d}-origin.png", digest, digest, (Verdict("v", True, 0.75, "label", 0.6),),
    )  # fmt: skip
    record(writer, [outcome(attempt, Status.FOUND, arm)], [finding])
    return finding


def outcome(attempt, status=Status.HELD, arm=Arm.SEARCH):
    return Outcome(arm, attempt, 0, f"image #{attempt}", status, 0, 40, 3, -0.5, findings=int(status is Status.FOUND))


def test_what_is_written_is_what_is_read(tmp_path):
    with RunWriter(tmp_path / "run", manifest()) as writer:
        written = write_finding(writer, 7)
        record(writer, [outcome(8), outcome(9, Status.REJECTED)])
    run = open_run(tmp_path / "run")
    read = run.finding(7)
    assert torch.equal(read.latent, written.latent) and torch.equal(read.origin_latent, written.origin_latent)
    assert {k: v for k, v in vars(read).items() if "latent" not in k} == {
        k: v for k, v in vars(written).items() if "latent" not in k
    }
    assert [o.status for o in run.outcomes()] == [Status.FOUND, Status.HELD, Status.REJECTED]
    assert run.counts()[Status.HELD] == 1
    assert list(run.findings(Arm.BASELINE)) == []


def test_latents_are_readable_without_foible(tmp_path):
    with RunWriter(tmp_path / "run", manifest()) as writer:
        written = write_finding(writer, 7)
    blob = sqlite3.connect(tmp_path / "run" / "run.sqlite").execute("SELECT latent FROM findings").fetchone()[0]
    assert np.frombuffer(blob, "<f4").tolist() == written.latent.flatten().tolist()


def test_verdicts_of_old_runs_have_the_usual_threshold(tmp_path):
    with RunWriter(tmp_path / "run", manifest()) as writer:
        write_finding(writer, 7)
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as database:
        old = '[{"validator": "v", "accepted": true, "score": 0.75, "about": "label"}]'
        database.execute("UPDATE findings SET verdicts = ?", (old,))
    run = open_run(tmp_path / "run")
    assert run.finding(7).verdicts == run.index()[0].verdicts == (Verdict("v", True, 0.75, "label", 0.5),)


def test_readers_see_a_run_while_it_is_written(tmp_path):
    with RunWriter(tmp_path / "run", manifest()) as writer:
        run = open_run(tmp_path / "run")
        assert run.state == "running" and list(run.findings()) == []
        write_finding(writer, 1)
        assert [f.attempt for f in run.findings()] == [1]
        seen = []
        thread = threading.Thread(target=lambda: seen.extend(open_run(tmp_path / "run").findings()))
        thread.start()
        thread.join()
        assert len(seen) == 1


def test_png_keeps_every_eight_bit_value(tmp_path):
    grey = torch.arange(256).float().div(255).view(1, 16, 16)
    (tmp_path / "grey.png").write_bytes(png_bytes(grey))
    assert torch.equal(read_png(tmp_path / "grey.png", (1, 16, 16)), grey)
    colour = torch.rand(3, 5, 7, generator=torch.Generator().manual_seed(0)).mul(255).round().div(255)
    (tmp_path / "colour.png").write_bytes(png_bytes(colour))
    assert torch.equal(read_png(tmp_path / "colour.png", (3, 5, 7)), colour)


def test_checkpoints_go_with_their_outcome(tmp_path):
    with RunWriter(tmp_path / "run", manifest()) as writer:
        with writer.transaction():
            writer.add_checkpoints(Arm.SEARCH, {4: {"x": torch.tensor([1.5])}, 5: {"x": torch.tensor([2.5])}})
        record(writer, [outcome(4)])
        assert writer.checkpointed(Arm.SEARCH) == {5}
        assert writer.checkpoint(Arm.SEARCH, 5)["x"].tolist() == [2.5]
        assert writer.checkpoint(Arm.SEARCH, 4) is None


def test_the_same_recipe_goes_on_and_another_is_refused(tmp_path):
    first = manifest()
    with RunWriter(tmp_path / "run", first) as writer:
        record(writer, [outcome(0)])
    faster = manifest(recipe=first.recipe | {"engine": {"lanes": 99}}, chunk=64)
    with RunWriter(tmp_path / "run", faster) as writer:
        assert writer.done(Arm.SEARCH) == {0}
        assert writer.manifest.chunk == 8, "a run keeps the chunk it was begun with"
    with pytest.raises(RecipeError, match=r"recipe\.attempts: 5 -> 6"):
        RunWriter(tmp_path / "run", manifest(recipe=first.recipe | {"attempts": 6}))
    with pytest.raises(RecipeError, match=r"digests\.w: 00 -> ff"):
        RunWriter(tmp_path / "run", manifest(digests={"w": "ff"}))


def test_two_writers_are_one_too_many(tmp_path):
    with RunWriter(tmp_path / "run", manifest()), pytest.raises(StoreError, match="another process is writing"):
        RunWriter(tmp_path / "run", manifest())


def test_differences_name_the_place():
    assert differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}, "d": 4}) == ["a.c: 2 -> 3", "d: None -> 4"]


def test_what_is_not_a_run_is_named(tmp_path):
    with pytest.raises(StoreError, match="no run folder"):
        open_run(tmp_path / "absent")
    with pytest.raises(StoreError, match=r"has no manifest\.json"):
        open_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match=r"manifest\.json' is damaged"):
        open_run(tmp_path)


def damaged_run(folder):
    with RunWriter(folder, manifest()) as writer:
        for attempt in range(60):
            write_finding(writer, attempt)
    return folder


def test_a_damaged_database_is_named_and_what_is_sound_is_kept(tmp_path):
    folder = damaged_run(tmp_path / "run")
    database = folder / "run.sqlite"
    content = bytearray(database.read_bytes())
    page = content.index(b"images/000030-failure.png") // 4096 * 4096
    content[page : page + 4096] = b"\xff" * 4096
    database.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged") as caught:
        RunWriter(folder, manifest())
    assert "--repair" in caught.value.hint
    notes = repair(folder)
    assert any("could not be read" in n for n in notes)
    with RunWriter(folder, manifest()) as writer:
        kept = writer.done(Arm.SEARCH)
    assert 0 < len(kept) < 60
    assert {f.attempt for f in open_run(folder).findings()} >= kept
    assert list(folder.glob("run.damaged-*")), "the damaged file is set aside, not deleted"


def test_a_database_that_is_no_database(tmp_path):
    folder = damaged_run(tmp_path / "run")
    (folder / "run.sqlite").write_bytes(b"junk" * 1000)
    with pytest.raises(StoreError, match="is damaged"):
        open_run(folder)
    assert repair(folder)
    assert open_run(folder).counts()[Status.FOUND] == 0


def test_repair_drops_findings_whose_image_is_gone(tmp_path):
    folder = damaged_run(tmp_path / "run")
    (folder / "images" / "000003-failure.png").unlink()
    (folder / "images" / "000004-failure.png").write_bytes(b"junk")
    notes = repair(folder)
    assert [n.split(":")[0] for n in notes] == ["failure 3", "failure 4"]
    with RunWriter(folder, manifest()) as writer:
        assert writer.done(Arm.SEARCH) == set(range(60)) - {3, 4}


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    with RunWriter(tmp_path / "run", manifest()) as writer:
        written = write_finding(writer, 0)
        content = (tmp_path / "run" / written.image).read_bytes()
        monkeypatch.setattr("pathlib.Path.write_bytes", full)
        with pytest.raises(StoreError, match="No space left") as caught:
            writer.add_finding(written, content, content)
        assert "free some space" in caught.value.hint
    assert open_run(tmp_path / "run").counts()[Status.FOUND] == 1


def full(*_):
    raise OSError(28, "No space left on device")
