"""A failure counts only when it survives rounding to 8 bits, the disk, and a second look."""

import pytest
import torch

import foible
from foible.errors import DataError, ModelError, RecipeError
from foible.store import open_run
from foible.testing.toys import ToyClassifier, ToyEncoder, toy_recipe
from foible.types import Status


class Fragile(ToyClassifier):
    """Fails only on images with values between the 8-bit steps: no such failure can be stored."""

    def __call__(self, images):
        between = (images * 255 - (images * 255).round()).abs().amax((1, 2, 3)) > 0.2
        scores = super().__call__(images)
        right = scores.scatter(1, scores.argmax(1, keepdim=True), 99.0)
        wrong = scores.scatter(1, scores.argmax(1, keepdim=True), -99.0)
        return torch.where(between[:, None], wrong, right)


class WholeStart(ToyEncoder):
    """Decodes origins to whole 8-bit values, so that the fragile classifier accepts them."""

    def encode(self, images, labels):
        latents = super().encode(images, labels)
        bars = latents.sigmoid().mul(255).round().div(255)
        return bars.logit()


@pytest.mark.parametrize(("ends", "rounds"), [("first", 1), ("confirmed", 16)])
def test_failures_that_vanish_when_rounded_are_lost_not_found(toy_images, tmp_path, ends, rounds):
    tiny = {"use": "genetic", "extent": 0.0005, "cap": 1.0}  # never far enough to change the brightest bar
    recipe = toy_recipe(toy_images, ends=ends, search=tiny, baseline={"attempts": 0}, budget={"evaluations": 275})
    run = foible.run(recipe, tmp_path / "run", classifier=Fragile(), generator=WholeStart())
    counts = run.counts()
    assert counts[Status.FOUND] == 0 and counts[Status.LOST] == 9
    assert {o.rounds for o in run.outcomes()} == {rounds}, "first: stop at once; confirmed: search on to the end"
    assert not list(run.findings())


def test_a_finding_says_what_was_before_and_after(toy_images, tmp_path):
    run = foible.run(toy_recipe(toy_images), tmp_path / "run")
    finding = next(run.findings())
    origin, failure = run.image(finding.origin_image), run.image(finding.image)
    classifier = ToyClassifier()
    before, after = classifier(origin[None])[0], classifier(failure[None])[0]
    assert int(before.argmax()) == finding.label and int(after.argmax()) == finding.predicted != finding.label
    assert finding.probabilities == pytest.approx(after.softmax(0).tolist(), abs=1e-5)
    assert finding.origin_probabilities == pytest.approx(before.softmax(0).tolist(), abs=1e-5)
    assert finding.pixel_distance == pytest.approx(float((failure - origin).norm()), rel=1e-5)
    assert finding.latent_distance == pytest.approx(float((finding.latent - finding.origin_latent).norm()), rel=1e-5)


def test_a_finding_can_be_rendered_again_from_its_latent(toy_images, tmp_path):
    run = foible.run(toy_recipe(toy_images), tmp_path / "run")
    for finding in run.findings():
        image = ToyEncoder().decode(finding.latent[None], None)[0]
        assert torch.equal(image.mul(255).round().div(255), run.image(finding.image))


def test_validators_have_their_place(toy_images, tmp_path):
    validator = tmp_path / "bright.py"
    validator.write_text(
        "from foible.records import Verdict\n"
        "class Bright:\n"
        "    name = 'bright'\n"
        "    def __call__(self, images, labels):\n"
        "        return [(Verdict('bright', m > 0.5, m),) for m in images.mean((1, 2, 3)).tolist()]\n"
    )
    run = foible.run(toy_recipe(toy_images, validators=[f"{validator}:Bright"], origins="any"), tmp_path / "run")
    findings = list(run.findings())
    assert findings and all([v.validator for v in f.verdicts] == ["steady", "bright"] for f in findings)
    assert foible.summarise(run).metrics["valid"] == sum(f.verdicts[1].accepted for f in findings)


class NaNLater(ToyClassifier):
    """Works for a while, then gives NaN."""

    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def __call__(self, images):
        self.calls -= 1
        return super().__call__(images) * (torch.nan if self.calls < 0 else 1.0)


def test_nan_in_the_middle_stops_the_run_and_loses_nothing(toy_images, tmp_path):
    recipe = toy_recipe(toy_images, attempts=60)
    with pytest.raises(ModelError, match="NaN or infinite scores"):
        foible.run(recipe, tmp_path / "run", classifier=NaNLater(60))
    run = open_run(tmp_path / "run")
    assert run.state == "failed"
    assert 0 < sum(run.counts().values()) < 60
    assert foible.run(recipe, tmp_path / "run", classifier=NaNLater(10**9)).state == "complete"


def test_an_image_that_cannot_be_read_is_named_before_anything_is_lost(toy_images, tmp_path):
    (toy_images / "right" / "3.png").write_bytes(b"junk")
    with pytest.raises(DataError, match=r"3\.png"):
        foible.run(toy_recipe(toy_images), tmp_path / "run")


def test_a_class_without_images_is_named(toy_images, tmp_path):
    for file in (toy_images / "right").iterdir():
        file.unlink()
    with pytest.raises(DataError, match="no image of class 'right'") as caught:
        foible.run(toy_recipe(toy_images), tmp_path / "run")
    assert "classes = [...]" in caught.value.hint
    run = foible.run(toy_recipe(toy_images, classes=["left", "middle"]), tmp_path / "run2")
    assert {o.label for o in run.outcomes()} == {0, 1}


COUNTS = '''
from foible.records import Verdict


class Dim:
    """Accepts images that are not too bright."""

    name, cost = "dim", 2

    def __call__(self, images, labels):
        return [(Verdict("dim", m < {limit}, m, "image", {limit}),) for m in images.mean((1, 2, 3)).tolist()]
'''


def counted(toy_images, tmp_path, limit, **changes):
    path = tmp_path / f"dim_{str(limit).replace('.', '_')}.py"
    path.write_text(COUNTS.format(limit=limit))
    changes = {
        "validators": [f"{path}:Dim"],
        "origins": "any",
        "baseline": {"attempts": 0},
        "steadiness": False,
        **changes,
    }
    recipe = toy_recipe(toy_images, **changes)
    return foible.run(recipe, tmp_path / f"run-{limit}-{changes.get('steers')}")


def test_a_judge_that_steers_lets_only_what_counts_be_found_and_is_paid_for(toy_images, tmp_path):
    free = counted(toy_images, tmp_path, 0.5)
    bright = [f for f in free.findings() if not f.verdicts[0].accepted]
    assert bright, "without the judge's say, some failures do not count"
    strict = counted(toy_images, tmp_path, 0.5, steers=True)
    found = list(strict.findings())
    assert found and all(v.accepted for f in found for v in f.verdicts)
    by_attempt = {f.attempt: f.evaluations for f in free.findings()}
    assert all(f.evaluations > by_attempt[f.attempt] for f in found if f.attempt in by_attempt), "each look costs 2"


def test_nothing_is_found_where_nothing_counts(toy_images, tmp_path):
    run = counted(toy_images, tmp_path, 0.0, steers=True)
    counts = run.counts()
    assert counts[Status.FOUND] == 0 and not list(run.findings())


def test_steering_without_validators_is_refused(toy_images):
    with pytest.raises(RecipeError, match="needs validators"):
        foible.check(toy_recipe(toy_images, steers=True))


def test_a_classifier_cannot_be_its_own_judge(toy_images, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        "from foible.digest import sha256\n"
        "class Own:\n"
        "    name = 'own'\n"
        "    digests = {'reference': 'SAME'}\n"
        "    def __call__(self, images, labels):\n"
        "        return [()] * len(images)\n"
    )
    classifier = ToyClassifier()
    classifier.digests = {"file": "SAME"}
    with pytest.raises(RecipeError, match="one of the judge's reference classifiers"):
        foible.check(toy_recipe(toy_images, validators=[f"{path}:Own"]), classifier=classifier)


def test_a_validator_may_have_nothing_to_say(toy_images, tmp_path):
    path = tmp_path / "silent.py"
    path.write_text(
        "class Silent:\n    name = 'silent'\n    def __call__(self, images, labels):\n        return [()] * len(images)\n"
    )
    run = foible.run(toy_recipe(toy_images, validators=[f"{path}:Silent"], steadiness=False), tmp_path / "run")
    findings = list(run.findings())
    assert findings and all(f.verdicts == () for f in findings)
