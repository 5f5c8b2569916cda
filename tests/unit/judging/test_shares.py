"""Lines drawn on failures of one's own searches, by the share that people accept elsewhere."""

from types import SimpleNamespace

import pytest
import torch
from typer.testing import CliRunner

from foible.cli.main import app
from foible.errors import RecipeError
from foible.judging.shares import lines_at, refit_to_shares, shares_lines
from foible.validators.calibration import Calibration
from foible.validators.evidence import Evidence
from tests.unit.survey_run import CLASSES, write_run


class Brightness:
    """A judge of the hand-written run, whose images differ in brightness only: valid from the 10th on, kept from the 20th."""

    def __init__(self, domain):
        self.parts = SimpleNamespace(classes=CLASSES)

    def evidence(self, images):
        return Evidence(images[:, 0, 0, :1] * 255, torch.zeros(len(images), 1, 3), torch.zeros(len(images), 1))

    def weighed(self, evidence, labels):
        rank = evidence.table[:, 0].argsort().argsort().float() / len(labels)
        return SimpleNamespace(validity=rank, valid=rank >= 0.25, kept_score=rank, kept=rank >= 0.5)

    def company(self):
        return "judged by brightness"


def test_shares_of_failures_are_accepted():
    rng = torch.Generator().manual_seed(0)
    validity, kept = torch.rand(200, generator=rng), torch.rand(200, generator=rng)
    found = lines_at(validity, kept, 0.7, 0.4)
    valid = validity >= found.threshold("image")
    assert valid.sum() == 140 and (valid & (kept >= found.threshold("label"))).sum() == 80
    assert found.image.n == 200 and found.image.accepted == 140 and found.label.error is None
    everything = lines_at(validity, kept, 1.0, 1.0)
    assert (validity >= everything.threshold("image")).all() and (kept >= everything.threshold("label")).all()


def test_a_run_s_failures_move_the_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("foible.judging.people.Judge", Brightness)
    run = write_run(tmp_path / "run", [(0.5, 0.5)] * 40)
    done = refit_to_shares(run, 0.5, 0.25, object())
    assert done.before == (30, 20) and done.after == (20, 10) and done.failures == 40
    done.calibration.save(tmp_path / "judge.toml")
    assert Calibration.load(tmp_path / "judge.toml") == done.calibration
    text = "\n".join(shares_lines(done, tmp_path / "judge.toml"))
    assert "judged by brightness" in text and "valid   75.0%" in text and "50.0%" in text and "25.0%" in text


def test_wrong_shares_and_too_few_failures_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr("foible.judging.people.Judge", Brightness)
    few = write_run(tmp_path / "run", [(0.5, 0.5)] * 5)
    with pytest.raises(RecipeError, match="no larger"):
        refit_to_shares(few, 0.3, 0.5, object())
    with pytest.raises(RecipeError, match="5 failures; 20 are needed"):
        refit_to_shares(few, 0.5, 0.3, object())


def test_shares_without_a_run_are_refused():
    said = CliRunner().invoke(app, ["judge", "--shares", "0.7", "0.4"])
    assert said.exit_code == 2 and "--shares is for --refit" in said.output
