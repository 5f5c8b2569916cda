"""The command line as a user types it: the whole job, and what is said when something is wrong."""

import json
import sqlite3
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from foible.store import open_run

from .conftest import foible, foible_process


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A small run of the embedded models, made by the command line."""
    folder = tmp_path_factory.mktemp("demo")
    settings = [
        "--attempts",
        8,
        "--set",
        "baseline.attempts=3",
        "--set",
        "budget.evaluations=600",
        "--chunk",
        32,
    ]
    done = foible("run", "demo", *settings, "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    return folder / "run", settings, done


def test_a_run_says_what_it_found_and_where(demo):
    folder, _, done = demo
    assert "confirmed failures" in done.stdout and "of 8 attempts" in done.stdout
    assert "report.html" in done.stdout
    assert "loading the models" in done.stderr and "looking at the classifier and the generator" in done.stderr
    assert "search: " in done.stderr and "evaluations/s" in done.stderr, "plain progress lines when piped"
    page = (folder / "report.html").read_text()
    assert "<img" in page and "data:image/png;base64," in page


def test_the_same_command_again_only_reports(demo):
    folder, settings, _ = demo
    before = (folder / "run.sqlite").read_bytes()
    done = foible("run", "demo", *settings, "--out", folder, "--quiet")
    assert done.returncode == 0 and done.stdout == "" and done.stderr == ""
    assert len(before) == len((folder / "run.sqlite").read_bytes())


def test_another_recipe_for_the_same_folder_is_refused(demo):
    folder, settings, _ = demo
    done = foible("run", "demo", *settings, "--seed", 99, "--out", folder)
    assert done.returncode == 2
    assert (
        "holds a run of another recipe" in done.stderr
        and "recipe.seed: 1 -> 99" in done.stderr
        and "hint:" in done.stderr
    )


def test_every_stored_finding_still_fails(demo):
    folder, _, _ = demo
    count = len(list(open_run(folder).findings()))
    done = foible("replay", folder)
    assert done.returncode == 0 and f"{count} of {count} failures still fail" in done.stdout
    assert count > 0


def test_replay_names_a_damaged_image(demo, tmp_path):
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(demo[0], folder)
    first, second, *_ = open_run(folder).findings()
    Image.new("L", (28, 28)).save(folder / first.image)
    (folder / second.image).unlink()
    done = foible("replay", folder)
    assert done.returncode == 3
    assert f"{first.image}' has changed" in done.stdout and "2 damaged" in done.stdout
    assert foible("resume", folder, "--repair", "--quiet").returncode == 0
    assert foible("replay", folder, "--quiet").returncode == 0, "what was dropped was found again"


def test_gate_json_and_junit(demo, tmp_path):
    folder, _, _ = demo
    files = ["--json", tmp_path / "s.json", "--junit", tmp_path / "s.xml"]
    done = foible("report", folder, *files, "--fail-if", "failure_rate > 0.05")
    assert done.returncode == 1 and "failure_rate" in done.stdout
    assert foible("report", folder, "--fail-if", "failure_rate > 1.5", "--quiet").returncode == 0
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["metrics"]["attempts"] == 8
    suite = ElementTree.parse(tmp_path / "s.xml").getroot()
    assert len(suite.findall(".//testcase")) == 8
    assert len(suite.findall(".//failure")) == summary["metrics"]["confirmed"]


def test_exports(demo, tmp_path):
    folder, _, _ = demo
    count = len(list(open_run(folder).findings()))
    done = foible(
        "export", folder, "--zip", tmp_path / "f.zip", "--tree", tmp_path / "tree", "--parquet", tmp_path / "f.parquet"
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "f.zip") as archive:
        names = archive.namelist()
        assert sum(n.endswith(".png") and "origin" not in n for n in names) == count
        assert any("_expected-" in n and "_predicted-" in n and "_evaluations-" in n for n in names)
        assert {"findings.csv", "manifest.json"} <= set(names)
    images = list((tmp_path / "tree").glob("*/*.png"))
    counting = sum(finding.counts for finding in open_run(folder).findings())
    assert len(images) == counting and {p.name for p in (tmp_path / "tree").glob("*/")} == {str(d) for d in range(10)}
    assert foible("export", folder, "--tree", tmp_path / "all", "--all").returncode == 0
    assert len(list((tmp_path / "all").glob("*/*.png"))) == count
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(tmp_path / "f.parquet")
    finding = next(open_run(folder).findings())
    assert np.array_equal(np.float32(table["latent"][0].as_py()), finding.latent.numpy())
    assert foible("export", folder).returncode == 2


def test_ls_shows_what_there_is(demo):
    for what, word in (
        ("recipes", "gift-mnist-vae-low"),
        ("zoo", "mnist-deepconv"),
        ("domains", "Handwritten"),
        ("searches", "genetic"),
    ):
        done = foible("ls", what)
        assert done.returncode == 0 and word in done.stdout
    assert "did you mean 'recipes'?" in foible("ls", "recipe").stderr


def test_check_in_words():
    good = foible("check", "demo")
    assert good.returncode == 0 and "is right on" in good.stdout
    bad = foible("check", "demo", "--set", "budget.evaluations=3")
    assert bad.returncode == 2 and "the budget is 3 per starting image" in bad.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "dmeo"], 2, ["no recipe 'dmeo'", "did you mean 'demo'?"]),
        (["rnu", "demo"], 2, ["No such command 'rnu'", "run"]),
        (["run", "demo", "--atempts", "3"], 2, ["No such option", "--attempts"]),
        (["run", "demo", "--attempts", "0"], 2, ["'attempts' = 0 is wrong"]),
        (["run", "demo", "--classifier", "absent.safetensors"], 2, ["no model file 'absent.safetensors'"]),
        (["run", "demo", "--classifier", "mnist-vae"], 2, ["is one of the generators", "hint:"]),
        (["run", "demo", "--generator", "mnist-vea"], 2, ["no generator is called 'mnist-vea'", "'mnist-vae'"]),
        (["run", "demo", "--data", "nowhere"], 2, ["no images at 'nowhere'"]),
        (["run", "demo", "--set", "search.setady=false"], 2, ["has no parameter 'setady'", "'steady'"]),
        (["run", "demo", "--set", "search.use=genetics"], 2, ["did you mean 'genetic'"]),
        (["run", "demo", "--set", "nonsense"], 2, ["is not key=value"]),
        (["run", "demo", "--device", "cuda:7"], 2, ["device 'cuda:7' cannot be used"]),
        (["run", "demo", "--fail-if", "failure_rat > 1"], 2, ["did you mean 'failure_rate'"]),
        (["report", "nowhere"], 3, ["no run folder 'nowhere'"]),
        (["train", "vea", "--domain", "mnist", "--out", "x.safetensors"], 2, ["no family is called 'vea'", "'vae'"]),
        (["train", "vae", "--domain", "mnist", "--out", "x.pt"], 2, ["must end in .safetensors"]),
    ],
)
def test_a_mistake_gets_a_message_and_a_hint(arguments, code, words, tmp_path):
    done = foible(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_in_a_shell_of_its_own(tmp_path):
    """Exit codes, streams and the traceback of --debug, in a real process."""
    done = foible_process("run", "dmeo", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("error: no recipe 'dmeo'")
    assert "Traceback" in foible_process("--debug", "run", "dmeo").stderr


def test_training_a_model_of_ones_own(toy_images, tmp_path):
    small = ["--domain", toy_images, "--epochs", 2, "--batch", 4]
    done = foible("train", "vae", *small, "--out", tmp_path / "vae.safetensors")
    assert done.returncode == 0, done.stderr
    assert "epoch 2/2" in done.stderr and "pixel error" in done.stdout
    card = (tmp_path / "vae.toml").read_text()
    assert "sha256" in card and "training_seconds" in card
    assert not (tmp_path / "vae.checkpoint").exists()


def test_a_running_run_can_be_reported(toy_file, tmp_path):
    recipe = toy_file(attempts=60)
    partial = foible("run", recipe, "--out", tmp_path / "run", "--seconds", 0.001)
    assert partial.returncode == 3 and "out of time" in partial.stdout
    assert foible("report", tmp_path / "run", "--quiet").returncode == 0
    done = foible("resume", tmp_path / "run", "--quiet", "--fail-if", "attempts < 60")
    assert done.returncode in (0, 3)


def test_the_database_is_readable_while_written_by_anyone(demo):
    rows = sqlite3.connect(f"file:{demo[0] / 'run.sqlite'}?mode=ro", uri=True).execute(
        "SELECT count(*) FROM outcomes WHERE arm = 'search'"
    )
    assert rows.fetchone()[0] == 8
