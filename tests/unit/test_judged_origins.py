"""Origins are judged too: one that is not valid with its label is set apart, in a step of its own."""

import json

import pytest
import torch

import foible
from foible.campaign import load_recipe
from foible.campaign.built_in import recipe_names
from foible.errors import RecipeError
from foible.images import read_png
from foible.report.junit import junit_xml
from foible.report.text import plain_summary
from foible.store import open_run
from foible.testing import toys
from foible.testing.toys import ToyEncoder, ToyGenerator, ToyJudge, toy_recipe
from foible.types import Arm, Status
from tests.journeys.conftest import contents

DARKEST = 0.46  # between the brightness of the toy images: some are refused


def judged(images, darkest=DARKEST, **changes):
    validator = {"use": f"{toys.__file__}:ToyJudge", "darkest": darkest}
    return toy_recipe(images, attempts=24, validators=[validator], steadiness=False, **changes)


@pytest.fixture
def run(toy_images, tmp_path):
    return foible.run(judged(toy_images), tmp_path / "run")


def test_what_the_judge_refuses_is_set_apart_and_never_searched(run, toy_images):
    brightness = {str(path): float(read_png(path, toys.SHAPE).mean()) for path in toy_images.glob("*/*.png")}
    refused = [o for o in run.outcomes() if o.status is Status.REFUSED]
    assert refused and all(o.evaluations == 0 and not o.accepted for o in refused)
    dark = sum(mean < DARKEST for mean in brightness.values())
    assert len(refused) == 2 * dark, "24 attempts go twice through the 12 images"
    assert not {o.attempt for o in refused} & {f.attempt for f in run.findings()}


def test_the_funnel_has_a_step_for_it_with_its_denominator(run):
    summary = foible.summarise(run)
    recognised, accepted, failures, *_ = summary.search.funnel
    counts = run.counts()
    assert (recognised.name, recognised.rate.count, recognised.rate.total) == ("recognised", 24, 24)
    assert (accepted.name, accepted.of) == ("accepted", "recognised starting images")
    assert (accepted.rate.count, accepted.rate.total) == (24 - counts[Status.REFUSED], 24)
    assert failures.rate.total == accepted.rate.count
    metrics = summary.metrics
    assert metrics["acceptance_rate"] == metrics["valid_origins_rate"] == accepted.rate.share
    assert metrics["recognised"] == 24 and summary.comparison.shared < 6
    assert "of 24 recognised starting images" in plain_summary(summary)
    assert "is not called valid with its label" in junit_xml(run)


def test_any_origin_is_searched_where_the_recipe_says_so(run, toy_images, tmp_path):
    free = foible.run(judged(toy_images, origins="any"), tmp_path / "free")
    assert free.counts()[Status.REFUSED] == 0
    stages = {s.name: s for s in foible.summarise(free).search.funnel}
    assert "recognised" not in stages and "not judged" in stages["accepted"].meaning
    assert foible.summarise(free).metrics["valid_origins_rate"] is None
    same = {o.attempt: o for o in free.outcomes()}
    assert all(o == same[o.attempt] for o in run.outcomes() if o.accepted), "the others are searched as before"


@pytest.mark.parametrize("lanes", [1, 64])
def test_lanes_change_nothing(run, toy_images, tmp_path, lanes):
    other = foible.run(judged(toy_images, engine={"lanes": lanes, "chunk": 16}), tmp_path / "other")
    assert contents(other.layout.folder) == contents(run.layout.folder)


def test_a_label_counts_only_where_one_is_expected(toy_images, tmp_path):
    """The judge that finds no label kept refuses every origin, unless any class will do."""
    never = {"use": f"{toys.__file__}:ToyJudge", "lead": -1.0}
    strict = toy_recipe(toy_images, validators=[never], baseline={"attempts": 0})
    assert foible.run(strict, tmp_path / "strict").counts()[Status.REFUSED] == 9
    headline = foible.summarise(open_run(tmp_path / "strict")).headline
    assert "None of 9 attempts" in headline and "valid with its label" in headline
    rival = {"rival": {"use": f"{toys.__file__}:ToyClassifier", "name": "rival", "bias": 0.75}}
    lenient = foible.run(strict | {"oracle": "disagree", "classifiers": rival}, tmp_path / "lenient")
    assert lenient.counts()[Status.REFUSED] == 0


def test_of_several_origins_the_valid_ones_fill_the_places(toy_images, tmp_path):
    search = {"use": "random", "extent": 0.02, "starts": 3}
    run = foible.run(judged(toy_images, search=search, baseline={"attempts": 0}), tmp_path / "run")
    judge, decode = ToyJudge(DARKEST), ToyEncoder().decode
    origins = torch.stack([f.origin_latent for f in run.findings()])
    labels = torch.tensor([f.label for f in run.findings()])
    assert len(labels) and all(v.accepted for said in judge(decode(origins, labels), labels) for v in said)


def test_samples_are_judged_as_well(toy_images, tmp_path):
    run = foible.run(judged(toy_images, 0.62), tmp_path / "run", generator=ToyGenerator())
    refused = {o.attempt for o in run.outcomes() if o.status is Status.REFUSED}
    again = {o.attempt for o in run.outcomes(Arm.BASELINE) if o.status is Status.REFUSED}
    assert again == {k for k in refused if k < 6} and 0 < len(again) < 6, "both arms judge alike"


def test_judging_origins_needs_somebody_who_judges(toy_images):
    campaign = foible.campaign.assemble(load_recipe(toy_recipe(toy_images)))
    assert campaign.recipe.origins == "any", "nobody judges, and the run says so"
    with pytest.raises(RecipeError, match="needs validators"):
        foible.check(toy_recipe(toy_images, origins="judged"))


def test_recipes_of_published_loops_search_from_any_origin():
    gift = [name for name in recipe_names() if name.startswith("gift-")]
    assert gift and all(load_recipe(name).origins == "any" for name in gift)
    assert load_recipe("demo").origins == "judged"


def test_the_former_key_is_explained():
    with pytest.raises(RecipeError) as caught:
        load_recipe("demo", {"origins": "sampled"})
    assert 'begins = "sampled"' in caught.value.hint


def test_a_run_from_before_goes_on_as_it_began(toy_images, tmp_path):
    recipe = judged(toy_images, origins="any")
    whole = foible.run(recipe, tmp_path / "whole")
    manifest = tmp_path / "whole" / "manifest.json"
    facts = json.loads(manifest.read_text())
    facts["recipe"]["origins"] = facts["recipe"].pop("begins")
    manifest.write_text(json.dumps(facts))
    assert open_run(tmp_path / "whole").manifest.recipe["begins"] == "auto"
    assert foible.run(recipe, tmp_path / "whole").state == "complete", "it is the same recipe still"
    assert whole.counts()[Status.REFUSED] == 0
