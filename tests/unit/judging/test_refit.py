"""The judge refitted to people: what answers may change, and where one would change most."""

from types import SimpleNamespace

import pytest
import torch

from foible.errors import RecipeError
from foible.judging.people import refit_lines, refit_to_people
from foible.judging.refit import UNKNOWN, Answered, Line, doubt, fit, fittable, refit
from foible.records import Key
from foible.store.answers import NOTHING, give_answer
from foible.validators.calibration import Calibration, FittedWeights
from foible.validators.evidence import EMBEDDED, Evidence
from foible.validators.parts import Weighing
from tests.unit.survey_run import CLASSES, write_run


def judge(weights=(1.0, 0.0), bias=0.0):
    return Weighing(torch.tensor(weights), torch.tensor(bias), torch.tensor([0.5, 0.5]))


def answered(table, valid, sources=None):
    count = len(table)
    sources = torch.full((count, 2, 2), 0.5).log() if sources is None else sources
    evidence = Evidence(table, sources, torch.zeros(count, 2, dtype=torch.long))
    labels = torch.zeros(count, dtype=torch.long)
    return Answered(evidence, labels, valid, torch.full((count,), UNKNOWN), torch.full((count,), UNKNOWN))


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(0)


def test_people_who_look_at_other_evidence_change_the_weights(rng):
    table = torch.randn(200, 2, generator=rng)
    people = answered(table, (table[:, 1] > 0).long())
    done = refit(judge(), people)
    assert done.how == "weights and thresholds"
    assert done.line.weighing.weights[1] > 5 * done.line.weighing.weights[0].clamp_min(0.01) or (
        done.line.weighing.weights[1] > 1
    )
    before, after = (next(a for a in done.agreement if a.how == how) for how in ("as it is", "weights and thresholds"))
    assert before.error > 0.4 > 0.15 > after.error and after.kappa > 0.7 and after.n == 200


def test_people_who_agree_change_nothing(rng):
    table = torch.randn(200, 2, generator=rng)
    done = refit(judge(), answered(table, (table[:, 0] > 0).long()))
    assert done.how == "as it is" and done.line.image == 0.5


def test_stricter_people_move_the_threshold(rng):
    table = torch.randn(300, 2, generator=rng)
    line = fit(judge(), answered(table, (table[:, 0] > 1).long()), "thresholds")
    assert line.image == pytest.approx(torch.tensor(1.0).sigmoid().item(), abs=0.03)
    assert line.weighing.weights.tolist() == [1, 0] and line.label == 0.5, "nobody was asked about labels"


def test_a_source_that_people_follow_is_trusted_more(rng):
    count = 120
    named = torch.randint(0, 2, (count,), generator=rng)
    knows = torch.where(named[:, None] == torch.arange(2), 0.8, 0.2)
    guesses = torch.rand(count, 2, generator=rng) * 0.9 + 0.05
    people = answered(torch.zeros(count, 2), torch.ones(count).long(), torch.stack([guesses, knows], 1).log())
    people = Answered(people.evidence, people.labels, people.valid, people.kept, named)
    trust = fit(judge(), people, "weights and thresholds").weighing.trust
    assert trust[1] > 1 > 0.4 > trust[0]


def test_few_answers_are_too_few():
    assert not fittable(torch.tensor([1] * 50 + [0] * 9)) and fittable(torch.tensor([1] * 10 + [0] * 10))


def test_the_next_question_is_where_judges_disagree():
    lines = tuple(Line(judge(bias=b)) for b in (-1.0, 0.0, 1.0))
    evidence = Evidence(torch.tensor([[9.0, 0], [0.5, 0], [-9.0, 0]]), torch.zeros(3, 2, 2), torch.zeros(3, 2))
    assert doubt(lines, lines[1], evidence, torch.zeros(3, dtype=torch.long)).argmax() == 1


class Brightness:
    """A judge of the hand-written run, whose images differ in brightness only: it likes bright ones."""

    readers, weighing = (), Weighing(torch.eye(len(EMBEDDED))[0], torch.tensor(0.0), torch.ones(1))

    def __init__(self, domain):
        self.parts = SimpleNamespace(classes=CLASSES)

    def evidence(self, images):
        table = torch.zeros(len(images), len(EMBEDDED))
        table[:, 0] = (images[:, 0, 0, 0] * 255 - 20) / 5
        return Evidence(
            table, torch.tensor([[[0.8, 0.1, 0.1]]]).log().expand(len(images), 1, 3), torch.zeros(len(images), 1)
        )

    def company(self):
        return "judged by brightness"


def asked(tmp_path, monkeypatch, line):
    """Forty findings, of which the first thirty-six were answered: valid from the line on."""
    monkeypatch.setattr("foible.judging.people.Judge", Brightness)
    run = write_run(tmp_path / "run", [(0.5, 0.5)] * 40)
    for attempt in range(36):
        give_answer(run.layout, "ann", Key(attempt), 0 if attempt >= line else NOTHING)
    return run


def test_answers_of_a_run_become_a_calibration(tmp_path, monkeypatch):
    run = asked(tmp_path, monkeypatch, line=24)
    done = refit_to_people(run, object())
    assert done.answered == 36 and {key.attempt for key in done.ask} == {36, 37, 38, 39}
    done.calibration.save(tmp_path / "people.toml")
    again = Calibration.load(tmp_path / "people.toml")
    assert again.image.threshold > 0.6 and again.image.n == 36 and again.image.accepted == 12
    weighing = again.reweighed(Brightness.weighing, EMBEDDED)
    assert weighing.weights[0] > 0
    text = "\n".join(refit_lines(done, tmp_path / "people.toml"))
    assert "judged by brightness" in text and "as it is" in text and "for the failures 3" in text


def test_a_calibration_for_other_evidence_is_refused(tmp_path, monkeypatch):
    fitted = FittedWeights(weights={"energy": 1.0}, bias=0.0, trust=(1.0,))
    with pytest.raises(RecipeError, match="fitted for the evidence energy"):
        Calibration(weighing=fitted).reweighed(Brightness.weighing, EMBEDDED)


def test_too_few_answers_are_said(tmp_path, monkeypatch):
    with pytest.raises(RecipeError, match="too few answers"):
        refit_to_people(asked(tmp_path, monkeypatch, line=34), object())
