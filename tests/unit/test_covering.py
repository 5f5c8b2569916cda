"""Coverage as something to be followed: aims that are met, given up, shared; and models that show nothing."""

from dataclasses import replace

import pytest
import torch

import foible
from foible.classifiers.watched import HIGH, LOW, UNITS, WATCHED, Watched
from foible.errors import ModelError, RecipeError
from foible.objectives.aims import DOWN, Choice, chosen_units, unit_distance
from foible.objectives.covering import Covering
from foible.oracles.disagree import Disagree
from foible.registry import BUILT_IN
from foible.testing.play import evaluated, toy_lanes, toy_roles, toy_shared
from foible.testing.scoring import some_candidates
from foible.testing.toys import SHAPE, ToyClassifier, toy_recipe
from foible.types import TESTED, Evaluation, Feedback


def looked_at(objective, lanes, memory, shared, grad=False):
    """Some candidates of every lane, scored and noted."""
    candidates = some_candidates(lanes, each=1)
    latents = candidates.latents.requires_grad_(grad)
    seen = evaluated(latents, lanes, candidates.lanes, toy_roles(objective), dict(objective.reads))
    return candidates, replace(seen, memory=memory, shared=shared)


def one_round(objective, lanes, memory, shared, failed=False):
    candidates, seen = looked_at(objective, lanes, memory, shared)
    told = torch.full((len(lanes),), failed)
    feedback = Feedback(objective(seen), told, torch.ones(len(lanes)).long(), notes=objective.note(seen))
    return objective.absorb(memory, lanes, candidates, feedback)


@pytest.mark.parametrize("name", BUILT_IN["coverage"])
def test_every_criterion_guides(name):
    """Two finite columns, and where a row aims at something, a slope."""
    if name in {"ss", "sv", "vs", "vv", "mlsa"}:
        pytest.skip("compares two layers, toys have one; mlsa differs from lsa only in its density")
    settings = {"threshold": 0.9} if name == "nc" else {"k": 1} if name in {"tknc", "bknc", "tknp"} else {}
    objective, lanes = Covering(criterion=name, settings=settings), toy_lanes([0, 1, 2])
    shared = toy_shared(objective)
    _, seen = looked_at(objective, lanes, objective.begin(lanes, shared), shared, grad=True)
    scores = objective(seen)
    assert scores.shape == (3, 2) and bool(scores.isfinite().all())
    (slope,) = torch.autograd.grad(scores[:, 1].sum(), seen.latents, allow_unused=True)
    aimed = objective.note(seen)["tested.aims"][:, 0] >= 0
    assert bool(aimed.any()) and bool(slope[aimed].any())


def test_an_aim_is_given_up_after_patience_and_left_alone_after_tries():
    objective, lanes = Covering(criterion="nbc", settings={"multiplier": 50.0}, patience=2, tries=1), toy_lanes([0])
    shared = toy_shared(objective)
    memory = one_round(objective, lanes, objective.begin(lanes, shared), shared)
    aim = int(memory["tested.aims"][0, 0])
    assert aim >= 0 and int(memory["tested.tried"]) == 1
    memory = one_round(objective, lanes, memory, shared)
    assert memory["tested.missed"][0, 0] == aim and memory["tested.aims"].tolist() == [[-1]]
    assert int(one_round(objective, lanes, memory, shared)["tested.aims"][0, 0]) not in (-1, aim)
    merged = objective.merge(shared, memory)
    assert merged["tested.given_up"].nonzero().flatten().tolist() == [aim]
    fresh = one_round(objective, lanes, objective.begin(lanes, merged), merged)
    assert int(fresh["tested.aims"][0, 0]) != aim, "not reached in the budget: nobody tries again"


def test_an_aim_that_is_met_makes_place_for_another():
    objective, lanes = Covering(criterion="kmnc", settings={"k": 4}), toy_lanes([0])
    shared = toy_shared(objective)
    _, seen = looked_at(objective, lanes, objective.begin(lanes, shared), shared)
    criterion = objective._books.criterion(objective, TESTED, shared)
    here = criterion.note(objective._look(TESTED, seen).batch)["cells"]
    memory = objective.begin(lanes, shared) | {"tested.aims": here[:, :1].clamp_max(criterion.numbers - 1)}
    if int(here[0, 0]) < criterion.numbers:
        after = one_round(objective, lanes, memory, shared)
        assert int(after["tested.met"]) == 1 and after["tested.aims"].tolist() == [[-1]]


def test_only_origins_and_failures_cover_where_the_recipe_says_so():
    lanes = toy_lanes([0])
    for remembers, failed, kept in (("failures", False, 1), ("failures", True, 3), ("every", False, 3)):
        objective = Covering(remembers=remembers)
        shared = toy_shared(objective)
        memory = objective.begin(lanes, shared)
        for _ in range(3):
            memory = one_round(objective, lanes, memory, shared, failed)
        assert int(memory["kept"]) == kept
        covered = objective.merge(shared, memory)["tested.covered.covered"]
        assert 0 < int(covered.sum()) <= 3 * kept and not bool(shared["tested.covered.covered"].any())


def test_published_strategies_choose_units():
    objective, lanes = Covering(criterion="nc", chooses="often", settings={"threshold": 0.5}), toy_lanes([0, 1])
    shared = toy_shared(objective)
    _, seen = looked_at(objective, lanes, objective.begin(lanes, shared), shared)
    look = objective._look(TESTED, seen)
    salt = torch.tensor([5, 6])

    def units(chooses, count=1, **known):
        choice = Choice(chooses, "nc")
        return chosen_units(choice, look.criterion, look.batch, count, salt, look.state, known)

    times = torch.tensor([0, 7, 0])
    assert units("often", times=times).tolist() == [[1], [1]]
    assert 1 not in units("rarely", times=times).flatten().tolist()
    even = units("rarely", 2, times=torch.tensor([3, 3, 3]))
    assert bool((even >= 0).all()), "equal counts: any unit"
    assert units("heavy", weights=torch.tensor([0.1, 0.2, 0.9])).tolist() == [[2], [2]]
    assert bool((units("published") >= 0).all()) and bool((units("unit", 3).sort(1).values == torch.arange(3)).all())
    there = look.criterion.reach(look.batch) - 0.5
    near = units("near", 3)
    for row, aims in enumerate(near.tolist()):
        for aim in (a for a in aims if a >= 0):
            assert -0.2 < float(there[row, aim % DOWN]) < 0.25 and (aim >= DOWN) == (float(there[row, aim % DOWN]) <= 0)


def test_units_go_up_and_those_marked_go_down():
    objective = Covering(criterion="nc")
    criterion = objective._books.criterion(objective, TESTED, toy_shared(objective))
    spread, values = criterion.profile.spread, torch.tensor([[1.0, 2.0, 3.0]])
    aims = torch.tensor([[1, DOWN + 2]])
    expected = (-2.0 / spread[1] + 3.0 / spread[2]) / 2
    assert float(unit_distance(criterion, values, aims)) == pytest.approx(float(expected), rel=1e-5)


def test_a_watched_classifier_gives_units_in_the_same_pass():
    inner, images = ToyClassifier(), torch.rand(2, *SHAPE, generator=torch.Generator().manual_seed(0)).requires_grad_()
    watched = Watched(inner)
    logits, seen = watched.inspect(images, WATCHED)
    assert torch.equal(logits, inner(images)) and seen[UNITS].shape == (2, 3)
    assert torch.equal(seen[LOW][:, 0], seen[UNITS].amin(1)) and torch.equal(seen[HIGH][:, 0], seen[UNITS].amax(1))
    assert bool(torch.autograd.grad(seen[UNITS].sum(), images)[0].any())


def test_three_classifiers_disagree_when_any_two_do():
    same, other = torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 2.0]])
    none = torch.zeros(1, 1)

    def said(*outputs):
        roles = dict(zip(("tested", "rival", "another"), outputs, strict=True))
        return bool(Disagree(["tested", "rival", "another"])(Evaluation(none, none, none, none, none, roles)))

    assert not said(same, same, same) and said(same, same, other) and said(same, other, same)
    with pytest.raises(RecipeError, match="nobody can disagree"):
        Disagree(["tested"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "kmc"}, "criterion = 'kmc'"),
        ({"pull": "push"}, "pull = 'push'"),
        ({"pull": "apart"}, "needs other classifiers"),
        ({"chooses": "dearest"}, "chooses = 'dearest'"),
        ({"chooses": "rarely"}, "counts which units neuron coverage covers"),
        ({"count": 0}, "count 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(RecipeError, match=message):
        Covering(**settings)


class Closed(ToyClassifier):
    """A classifier that shows no layer."""

    def layers(self):
        return ()


def test_a_run_says_what_a_model_does_not_show(toy_images, tmp_path):
    guided = {"baseline": {"attempts": 0}, "validators": [], "search": {"use": "dlfuzz"}}
    with pytest.raises(ModelError, match="lends no activations"):
        foible.run(toy_recipe(toy_images, **guided), tmp_path / "closed", classifier=Closed())
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 3, bias=False))
    network[1].weight.data = torch.eye(3).repeat_interleave(2, 1).repeat(1, 6)
    objective = {"use": "covering", "layers": ["no such layer"]}
    with pytest.raises(ModelError, match="no layer 'no such layer'"):
        foible.run(toy_recipe(toy_images, **guided, objective=objective), tmp_path / "layers", classifier=network)
    objective = {"use": "covering", "criterion": "kmnc", "settings": {"k": 0}}
    with pytest.raises(RecipeError, match="k must be at least 1"):
        foible.run(toy_recipe(toy_images, **guided, objective=objective), tmp_path / "k")
    objective = {"use": "covering", "criterion": "kmnc", "settings": {"k": 10**9}}
    with pytest.raises(RecipeError, match="more than 1,024 MB"):
        foible.run(toy_recipe(toy_images, **guided, objective=objective), tmp_path / "cap")


def test_coverage_is_the_second_axis_of_an_archive(toy_images, tmp_path):
    """A population bred towards failures and towards what the run has not covered: each failure says what it adds."""
    objective = {
        "use": "covering",
        "criterion": "kmnc",
        "chooses": "gain",
        "remembers": "failures",
        "settings": {"k": 20},
    }
    recipe = toy_recipe(
        toy_images,
        search={"use": "nsga2", "population": 6, "look": [1, 6, 6]},
        objective=objective,
        oracle="misclassified",
        attempts=2,
        wave=1,
        budget={"evaluations": 60},
        baseline={"attempts": 0},
        validators=[],
    )
    run = foible.run(recipe, tmp_path / "run")
    gains = [-f.measures["uncovered"] for f in run.findings()]
    assert gains and max(gains) > 0 and all(0 <= gain < 3 / 60 + 1e-5 for gain in gains), (
        "three units, twenty sections each"
    )
    assert bool(run.shared()["tested.covered.covered"].any())
