"""People as a validator: by pixels, ties and strangers without a verdict."""

import pytest
import torch

from foible.api import run as run_campaign
from foible.domains import load_domain
from foible.errors import RecipeError
from foible.records import Key, Verdict
from foible.store import open_run
from foible.store.answers import NOTHING, Answer, add_answers, give_answer
from foible.testing.toys import toy_recipe
from foible.validators.human import Human
from tests.unit.survey_run import write_run

WHEN = "2026-01-01T00:00:00+00:00"


def grey(*levels):
    return torch.stack([torch.full((1, 6, 6), level / 255) for level in levels])


def test_what_people_have_seen_is_known_by_its_pixels(tmp_path, toy_images):
    run = write_run(tmp_path / "runs" / "one", [None] * 4, toy_images)
    said = {"Ada": (0, 0, NOTHING, 1), "Ben": (0, NOTHING, NOTHING, 2), "Cem": (1, 0, 0, None)}
    rows = [Answer(Key(k), p, see, WHEN) for p, mine in said.items() for k, see in enumerate(mine) if see is not None]
    add_answers(run.layout, rows)
    human = Human(load_domain(toy_images), str(tmp_path / "runs"))
    first, second, third, fourth, stranger = human(grey(0, 1, 2, 3, 99) + 0.4 / 255, torch.zeros(5).long())
    assert first == (Verdict("human", True, 1.0, "image"), Verdict("human", True, 0.666667, "label"))
    assert second[0] == Verdict("human", True, 0.666667, "image")
    assert third == (Verdict("human", False, 0.333333, "image"), Verdict("human", False, 0.333333, "label"))
    assert fourth == (Verdict("human", True, 1.0, "image"), Verdict("human", False, 0.0, "label"))
    assert stranger == ()
    [divided] = human(grey(3), torch.tensor([1]))
    assert [v.about for v in divided] == ["image"], "one sees 1, one sees 2: no verdict on the label"
    assert list(human.digests) == ["one/answers.sqlite"]


def test_answers_about_something_else_are_no_help(tmp_path, toy_images):
    run = write_run(tmp_path / "run", [None], toy_images, classes=("cat", "dog", "cow"))
    give_answer(run.layout, "Ada", Key(0), 1)
    for place in (tmp_path / "run", tmp_path / "absent"):
        with pytest.raises(RecipeError, match="nobody has answered about images of"):
            Human(load_domain(toy_images), str(place))


def test_people_judge_the_same_failures_again(tmp_path, toy_images):
    first = open_run(run_campaign(toy_recipe(toy_images), tmp_path / "first").layout.folder)
    lines = first.index()
    give_answer(first.layout, "Ada", lines[0].key, lines[0].label)
    give_answer(first.layout, "Ada", lines[1].key, NOTHING)
    people = {"use": "human", "answers": str(tmp_path / "first")}
    second = run_campaign(toy_recipe(toy_images, validators=[people]), tmp_path / "second")
    said = {f.attempt: [v.accepted for v in f.verdicts if v.validator == "human"] for f in second.findings()}
    assert said[lines[0].attempt] == [True, True] and said[lines[1].attempt] == [False, False]
    assert all(not mine for attempt, mine in said.items() if attempt not in {lines[0].attempt, lines[1].attempt})
