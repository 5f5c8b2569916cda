"""A judge for images of one's own: train two reference classifiers, fit the judge, and let it judge a folder."""

import csv
import shutil
import tomllib

import numpy as np
import pytest
import torch
from PIL import Image

import foible as package
from foible.domains import load_domain, real_images
from foible.images import to_bytes

from .conftest import foible

NAMES = {0: "zero", 1: "one", 4: "four"}
REFERENCE = """
family = "classifier"
domain = "x"
[network]
network = "{network}"
outliers = 0.5
augment = {{ shift = 1 }}
[fit]
epochs = 12
batch = 32
learning_rate = 4e-3
seed = {seed}
"""
DOMAIN = """
shape = [1, 28, 28]
classes = ["four", "one", "zero"]
folder = "digits"
references = ["first.safetensors", "second.safetensors"]
judge = "judge.safetensors"
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A folder with digits of three classes, a domain file, two references and a judge."""
    folder = tmp_path_factory.mktemp("shop")
    real = real_images(load_domain("mnist"), "sample")
    for digit, name in NAMES.items():
        (folder / "digits" / name).mkdir(parents=True)
        index = (real.labels == digit).nonzero()[:, 0]
        for i, pixels in enumerate(to_bytes(real.images(index))):
            Image.fromarray(pixels[0]).save(folder / "digits" / name / f"{i:03d}.png")
    (folder / "mine.toml").write_text(DOMAIN)
    for seed, (out, network) in enumerate({"first": "lenet1", "second": "lenet5"}.items()):
        (folder / f"{out}-recipe.toml").write_text(REFERENCE.format(network=network, seed=seed))
        done = foible(
            "train", "classifier", "--domain", "digits", "--recipe", f"{out}-recipe.toml", "--out", f"{out}.safetensors", cwd=folder
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = foible("train", "judge", "--domain", "mine.toml", "--out", "judge.safetensors", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def verdicts(path):
    with path.open(newline="") as opened:
        return {row["file"]: row for row in csv.DictReader(opened)}


def test_a_folder_of_anyones_images_is_judged(shop, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = ["file,expected"]
    for i in range(20):
        shutil.copy(shop / "digits" / "zero" / f"{i:03d}.png", folder / f"zero-{i}.png")
        shutil.copy(shop / "digits" / "one" / f"{i:03d}.png", folder / f"one-{i}.png")
        Image.fromarray(rng.integers(0, 256, (28, 28), dtype=np.uint8)).save(folder / f"noise-{i}.png")
        rows += [f"zero-{i}.png,zero", f"one-{i}.png,2", f"noise-{i}.png,four"]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    done = foible(
        "judge",
        folder,
        "--domain",
        shop / "mine.toml",
        "--labels",
        tmp_path / "labels.csv",
        "--out",
        tmp_path / "v.csv",
    )
    assert done.returncode == 0, done.stderr
    assert "valid, label kept" in done.stdout and "of 60" in done.stdout
    said = verdicts(tmp_path / "v.csv")
    assert list(said["zero-0.png"]) == [
        "file",
        "expected",
        "valid",
        "validity",
        "label",
        "label_name",
        "kept",
        "kept_score",
        "ambiguity",
        "why",
    ]
    assert "judged by 2 reference classifiers" in done.stdout and "not valid: " in done.stdout
    assert all(row["why"] for row in said.values())

    def share(kind, column, value):
        mine = [row for file, row in said.items() if file.startswith(kind)]
        return sum(row[column] == value for row in mine) / len(mine)

    assert share("zero", "valid", "true") >= 0.9 and share("zero", "kept", "true") >= 0.9
    assert share("one", "valid", "true") >= 0.9 and share("one", "label_name", "one") >= 0.9
    assert share("one", "kept", "true") <= 0.1, "they are called zeros in the labels file"
    assert share("noise", "valid", "false") >= 0.9 and share("noise", "kept", "true") <= 0.1
    assert all(0 <= float(row[c]) <= 1 for row in said.values() for c in ("validity", "kept_score"))


def test_a_tree_needs_no_labels_and_agrees_with_python(shop, tmp_path):
    done = foible("judge", shop / "digits", "--domain", shop / "mine.toml", "--out", tmp_path / "v.csv")
    assert done.returncode == 0, done.stderr
    said = verdicts(tmp_path / "v.csv")
    assert len(said) == 300
    data = real_images(load_domain(shop / "mine.toml"))
    index = torch.arange(0, 300, 37)
    mine = package.judge(data.images(index), data.labels[index], shop / "mine.toml")
    names = [data.paths[i].relative_to(shop / "digits").as_posix() for i in index.tolist()]
    assert [float(said[n]["validity"]) for n in names] == pytest.approx(mine.validity.tolist(), abs=5.1e-5), (
        "rounded to four digits"
    )
    assert [said[n]["kept"] == "true" for n in names] == mine.kept.tolist()


def test_a_card_states_the_error_rates(shop):
    figures = tomllib.loads((shop / "judge.toml").read_text())["figures"]
    assert figures["validity_auc"] > 0.8 and figures["kept_auc"] > 0.9
    assert {"real_called_invalid", "invalid_called_valid", "real_kept", "judge_accuracy"} <= set(figures)


def test_people_move_the_line(shop, tmp_path):
    (tmp_path / "people.toml").write_text("[image]\nthreshold = 1.0\nn = 40\naccepted = 3\nerror = 0.1\n")
    done = foible(
        "judge",
        shop / "digits" / "one",
        "--domain",
        shop / "mine.toml",
        "--calibration",
        tmp_path / "people.toml",
        "--out",
        tmp_path / "v.csv",
    )
    assert done.returncode == 0, done.stderr
    said = verdicts(tmp_path / "v.csv").values()
    assert all(row["valid"] == "false" for row in said if float(row["validity"]) < 0.99995)


def test_lines_without_an_image_are_an_error(shop, tmp_path):
    (tmp_path / "labels.csv").write_text("file,expected\nnowhere.png,one\n")
    done = foible(
        "judge",
        shop / "digits" / "one",
        "--domain",
        shop / "mine.toml",
        "--labels",
        tmp_path / "labels.csv",
        cwd=tmp_path,
    )
    assert done.returncode == 2 and "nowhere.png" in done.stderr and "relative" in done.stderr
    assert not (tmp_path / "verdicts.csv").exists()


def test_a_domain_without_a_judge_says_how_to_get_one(shop, tmp_path):
    done = foible("judge", shop / "digits" / "one", "--domain", "imagenet", "--out", tmp_path / "v.csv")
    assert done.returncode == 2 and "has no judge" in done.stderr and "foible train judge" in done.stderr
