"""Strips, maps of activations and the heat map: as numbers, as parts of a page, in the report and by the command."""

import json
from types import SimpleNamespace

import pytest
import torch
from typer.testing import CliRunner

import foible
from foible.borders.activation_map import ActivationMap, activation_map
from foible.borders.parts import keep_strip, map_svg, parts
from foible.borders.strip import image_by_name, sheet, strip
from foible.campaign.replay import reassembled
from foible.cli.main import app
from foible.domains import load_domain, real_images
from foible.errors import DataError, ModelError, RecipeError
from foible.report.page import render_page
from foible.testing import toys
from foible.testing.toys import CLASSES, ToyClassifier, ToyEncoder, ToyGenerator, toy_recipe, write_toy_images

TOYS = toys.__file__


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return write_toy_images(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def run(images, tmp_path_factory):
    facts = toy_recipe(images, attempts=12, baseline={"attempts": 0}, validators=[], steadiness=False)
    facts |= {"search": {"use": "shrink", "gradients": True}, "oracle": "targeted", "targets": list(CLASSES)}
    return foible.run(facts, tmp_path_factory.mktemp("pictures") / "run")


def ends(images):
    domain = load_domain(images)
    real = real_images(domain)
    return torch.stack([image_by_name(name, domain, real) for name in ("left:0", "right:1")])


def test_a_strip_goes_from_one_image_to_the_other_and_changes_its_mind_once(images):
    found = strip(ToyEncoder(), ToyClassifier(), ends(images), steps=5)
    assert found.shares == (0.0, 0.25, 0.5, 0.75, 1.0)
    for row in (found.latent, found.pixels):
        assert (int(row.predicted[0]), int(row.predicted[-1]), row.changes) == (0, 2, 1)
        assert torch.allclose(row.images[[0, -1]], ends(images), atol=1e-5)
    assert torch.allclose(found.pixels.images[2], ends(images).mean(0))
    assert tuple(sheet(found).shape) == (1, 16, 40)


def test_images_by_file_and_by_class(images):
    domain = load_domain(images)
    real = real_images(domain)
    by_file = image_by_name(str(images / "right" / "1.png"), domain, real)
    assert torch.equal(by_file, image_by_name("right:1", domain, real))
    for name, words in (("nothing.png", "there is no image"), ("right:99", "has 4 images")):
        with pytest.raises(DataError, match=words):
            image_by_name(name, domain, real)
    with pytest.raises(RecipeError, match="no class 'rigth'"):
        image_by_name("rigth:0", domain, real)


def test_a_strip_needs_an_encoder_and_two_ends(images):
    with pytest.raises(RecipeError, match="no encoder"):
        strip(ToyGenerator(), ToyClassifier(), ends(images))
    with pytest.raises(RecipeError, match="no two ends"):
        strip(ToyEncoder(), ToyClassifier(), ends(images), steps=1)


def test_border_images_lie_between_the_clouds(run):
    found = activation_map(run, reassembled(run), (0, 2))
    assert found.layer == "bars" and found.between.share == 1.0 and found.between.total >= 2
    assert 0.5 < sum(found.explained) <= 1.0 + 1e-9 and len(found.clouds[0]) == 4
    svg = map_svg(found, CLASSES)
    assert svg.count("<circle") == 8 + found.between.total and "left" in svg


def test_between_is_measured_along_the_line_of_the_middles():
    clouds = (torch.tensor([[0.0, 0.0], [0.0, 2.0]]), torch.tensor([[4.0, 0.0], [4.0, 2.0]]))
    border = torch.tensor([[2.0, 9.0], [5.0, 1.0], [-1.0, 1.0]])
    assert ActivationMap((0, 1), "x", clouds, border, (0.9, 0.1)).between.count == 1


def test_a_pair_without_findings_is_named(run, monkeypatch):
    monkeypatch.setattr(type(run), "findings", lambda _: iter(()))
    with pytest.raises(DataError, match="no failure between left and right"):
        activation_map(run, reassembled(run), (0, 2))


def test_the_commands_keep_pictures_with_the_run_and_the_report_shows_them(run, images, tmp_path):
    folder = str(run.layout.folder)
    models = ["--domain", str(images), "--generator", f"{TOYS}:ToyEncoder", "--classifier", f"{TOYS}:ToyClassifier"]
    page, picture = tmp_path / "strip.html", tmp_path / "strip.png"
    said = CliRunner().invoke(app, ["strip", "left:0", "right:1", *models, "--run", folder, "-o", str(page)])
    assert said.exit_code == 0 and "latent: left, left, left, right" in said.output, said.output
    assert CliRunner().invoke(app, ["strip", "left:0", "right:1", *models, "-o", str(picture)]).exit_code == 0
    assert page.read_text().count("<img") == 12 and picture.read_bytes().startswith(b"\x89PNG")
    said = CliRunner().invoke(app, ["map", folder, "--pair", "left", "right", "--svg", str(tmp_path / "map.html")])
    assert said.exit_code == 0 and "between the middles" in said.output, said.output
    titles = [part.title for part in parts(run)]
    near = "Escapes from class to class, near ones"
    assert titles == [near, "Escapes from class to class", "Activations of left and right", "Between two images"]
    report = render_page(run)
    assert (
        "<svg" in report and "through the latent space" in report and "with its 95 % interval, the median L1" in report
    )


def test_a_map_of_a_model_without_activations_is_refused(run):
    blind = SimpleNamespace(classifier=SimpleNamespace(name="blind"))
    with pytest.raises(ModelError, match="'blind' lends no activations"):
        activation_map(run, blind, (0, 2))


def test_what_lies_in_a_run_is_drawn_and_never_copied(run, images):
    path = keep_strip(run, strip(ToyEncoder(), ToyClassifier(), ends(images), steps=2), "bad")
    before = len(parts(run))
    facts = json.loads(path.read_text())
    facts["latent"][0][0] = "<script>alert(1)</script>"
    path.write_text(json.dumps(facts))
    assert len(parts(run)) == before - 1 and "alert" not in render_page(run)
    path.unlink()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["strip", "left:0", "right:0", "--out", "x.txt"], "neither a page nor a picture"),
        (["strip", "left:0", "right:0", "--generator", "TOYS:ToyGenerator"], "no encoder"),
        (["map", "RUN", "--pair", "left", "left"], "two different classes"),
        (["map", "RUN", "--pair", "left", "rigth"], "no class 'rigth'"),
    ],
)
def test_bad_input_is_named(options, words, run, images, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = ["--domain", str(images), "--generator", f"{TOYS}:ToyEncoder", "--classifier", f"{TOYS}:ToyClassifier"]
    given = [o.replace("TOYS", TOYS).replace("RUN", str(run.layout.folder)) for o in options]
    said = CliRunner().invoke(app, [given[0], *(models if given[0] == "strip" else []), *given[1:]])
    assert said.exit_code == 2 and words in said.output, said.output
