"""The label alarm: depths, the tests of pairs, candidates, and the command over toy models."""

import json
import math

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from foible.borders.alarm import against_twin, among_pairs, escaped, lower_than_others, usual_effort
from foible.borders.depth import Margins, latent_distances, margins_of
from foible.borders.labels import relabel
from foible.cli.main import app
from foible.domains.images import ImageArray
from foible.errors import RecipeError
from foible.testing import toys
from foible.testing.play import toy_data
from foible.testing.toys import ToyClassifier, ToyEncoder, ToyGenerator, write_toy_images

TOYS = toys.__file__
CPU = torch.device("cpu")


def test_effort_is_the_median_unless_most_hold():
    assert usual_effort([4, 8, 12], [16, math.inf]) == 12
    assert usual_effort([4.0, math.inf, math.inf]) == 4, "never infinite"
    assert usual_effort([math.inf]) == 0
    assert (escaped([0, 4, math.inf], 4).count, escaped([], 4).share) == (2, None)


def test_the_pair_that_escapes_more_than_in_the_twin_comes_first_and_all_pairs_are_corrected_for():
    hard, easy = [96.0] * 2 + [math.inf] * 18, [8.0] * 18 + [math.inf] * 2
    twin = {(0, 1): hard, (0, 2): hard, (1, 2): easy}
    found = against_twin({(0, 1): easy, (0, 2): hard, (1, 2): easy}, twin, {(0, 1): 3.0})
    assert found[0].pair == (0, 1) and [s.alarm for s in found] == [True, False, False]
    assert found[0].corrected == pytest.approx(3 * found[0].p) and found[0].expected == 0.1
    assert found[1].p > 0.5, "as many as the twin"


def test_one_point_below_a_line_is_judged_by_the_line_of_the_others():
    x = np.arange(10.0)
    y = 2 * x + np.tile([0.1, -0.1], 5)
    y[4] -= 5
    line = lower_than_others(y, x)
    assert line.p.argmin() == 4 and line.p[4] < 1e-6 and np.delete(line.p, 4).min() > 0.01
    others = np.polyfit(np.delete(x, 4), np.delete(y, 4), 1)
    assert line.expected[4] == pytest.approx(np.polyval(others, 4))


def pairs_of(count):
    return [(a, b) for a in range(count) for b in range(a + 1, count)]


def test_without_a_twin_the_shallow_pair_stands_out():
    rng = np.random.default_rng(0)
    apart = {pair: 5 + 5 * rng.random() for pair in pairs_of(6)}
    depths = {pair: 1.5 * apart[pair] * np.exp(0.1 * rng.normal()) for pair in apart}
    taken = {pair: [40.0, 60.0, math.inf, math.inf] for pair in apart}
    assert not any(s.alarm for s in among_pairs(taken, depths, apart))
    found = among_pairs(taken, depths | {(2, 5): 3.5}, apart)
    assert [s.pair for s in found if s.alarm] == [(2, 5)] and found[0].expected > 6


def test_without_a_twin_too_few_pairs_are_refused():
    some = dict.fromkeys(pairs_of(3), 1.0)
    with pytest.raises(RecipeError, match="too few") as error:
        among_pairs({}, some, some)
    assert "--twin" in error.value.hint


def test_depth_is_the_median_of_those_that_are_right():
    odds = torch.tensor([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0], [0.0, 5.0], [0.0, -9.0]])
    margins = Margins(torch.zeros(6, dtype=torch.long), odds)
    assert margins.right.tolist() == [True] * 5 + [False] and margins.depth(0, 1) == 3.0
    assert math.isnan(margins.depth(1, 0)), "no images of that class"


def test_margins_and_distances_of_the_toys():
    data = toy_data(60)
    margins = margins_of(ToyClassifier(), data, CPU)
    bars = data.images(torch.arange(60)).mean((1, 2)).unflatten(1, (3, 2)).mean(2)
    assert torch.allclose(margins.odds, 10 * (bars.gather(1, data.labels[:, None]) - bars).double(), atol=1e-5)
    apart = latent_distances(ToyEncoder(), data, 3, CPU, 100)
    assert torch.equal(apart, apart.T) and float(apart.diagonal().max()) < 1e-6 and float(apart[0, 1]) > 1
    with pytest.raises(RecipeError, match="no encoder"):
        latent_distances(ToyGenerator(), data, 3, CPU, 100)


def test_an_image_under_the_wrong_label_is_the_first_candidate():
    data = toy_data(60)
    labels = data.labels.clone()
    labels[[9, 11]] = torch.tensor([2, 0])  # left called right, right called left
    margins = margins_of(ToyClassifier(), ImageArray("polluted", data.pixels, labels), CPU)
    first = relabel(margins, (0, 2), 2)
    assert {(c.position, c.label, c.other) for c in first} == {(9, 2, 0), (11, 0, 2)}
    assert all(c.odds < 0 for c in first) and len(relabel(margins, (0, 2), 7)) == 7


def labels(folder, *options, images=12):
    data = write_toy_images(folder / "toys", images)
    command = ["labels", f"{TOYS}:ToyClassifier", "--domain", str(data), "--out", str(folder / "out")]
    return CliRunner().invoke(app, [*command, "--generator", f"{TOYS}:ToyEncoder", *options])


def test_the_verb_compares_with_a_twin_and_writes_a_page(tmp_path):
    leaning = tmp_path / "leaning.py"
    leaning.write_text(
        f"from foible.testing.toys import ToyClassifier\ndef Twin(): return ToyClassifier('twin', {-4.0})\n"
    )
    said = labels(tmp_path, "--twin", f"{leaning}:Twin", "--origins", "12", "--candidates", "3")
    assert said.exit_code == 0 and "3 and" not in said.output, said.output
    facts = json.loads((tmp_path / "out" / "labels.json").read_text())
    assert len(facts["pairs"]) == 3 and facts["twin"].endswith(":Twin") and facts["images"] == 36
    assert "alarm" in said.output and (tmp_path / "out" / "labels.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "out" / "candidates.csv").read_text().startswith("file,position,label,suggested")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "too few"),
        (["--generator", "TOYS:ToyGenerator"], "no encoder"),
        (["--data", "nowhere"], "no images at 'nowhere'"),
    ],
)
def test_bad_input_is_named(options, words, tmp_path):
    said = labels(tmp_path, "--origins", "1", *(o.replace("TOYS", TOYS) for o in options))
    assert said.exit_code == 2 and words in said.output, said.output
