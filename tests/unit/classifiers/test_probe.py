"""What is wrong with a classifier is said precisely, and before any search."""

import re
from dataclasses import replace

import pytest
import torch
from torch import nn

from foible.classifiers.adapted import AdaptedClassifier
from foible.classifiers.adapting.causes import hint_for
from foible.classifiers.adapting.conventions import CAFFE_MEAN, Said, Undecided, choose
from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.adapting.probe import probe
from foible.classifiers.adapting.trials import Trial, contenders, trial
from foible.classifiers.load import load_classifier, probe_images
from foible.classifiers.network import ModuleNetwork
from foible.cli.ask import commands
from foible.domains import load_domain
from foible.errors import ModelError
from foible.zoo import entry, load_model


class Around(nn.Module):
    """The toy network with something in front and something behind."""

    def __init__(self, inner, before=lambda x: x, after=lambda s: s):
        super().__init__()
        self.inner, self.before, self.after = inner, before, after

    def forward(self, x):
        return self.after(self.inner(self.before(x)))


def lines_of(bars, real, module, **settings):
    images, labels = probe_images(real)
    classifier = AdaptedClassifier("m", module, bars.classes, **settings)
    return probe(classifier, images, labels, bars.classes)


def test_a_sound_classifier_has_nothing_wrong(files, bars, real):
    lines = lines_of(bars, real, files.module())
    assert [line.level for line in lines] == ["ok", "ok"]
    assert "100.0%" in lines[0].message
    assert "gradients, activations" in lines[1].message


@pytest.mark.parametrize(
    ("module", "says"),
    [
        (lambda net: Around(net, after=lambda s: s[:, :2]), r"scores of shape \(90, 2\), expected \(90, 3\)"),
        (lambda net: Around(net, after=lambda s: s * float("nan")), "NaN or infinite"),
        (lambda net: Around(net, after=lambda s: s * 0), "same scores for every image"),
        (lambda net: Around(net, after=lambda s: s.argmax(1)), "scores of shape"),
        (lambda net: Around(net, after=lambda s: s.long()), "expected floating-point"),
        (lambda net: Around(net, after=lambda s: s + torch.randn_like(s)), "other scores when asked again"),
        (lambda net: Around(net, before=lambda x: x - x.mean()), "alone than in a batch"),
        (lambda net: Around(net, after=lambda s: s.softmax(1)), "gives probabilities where logits"),
        (lambda net: Around(net, after=lambda s: s[:, [1, 2, 0]]), "classes in another order it is right on 100.0%"),
        (lambda net: Around(net, after=lambda s: torch.sin(1000 * s)), "right on only"),
        (lambda net: nn.Sequential(nn.Flatten(), nn.Linear(99, 3)), "cannot take 1x6x6 images"),
    ],
)
def test_what_is_wrong_is_named(files, bars, real, module, says):
    lines = lines_of(bars, real, module(files.module()))
    assert re.search(says, " ".join(line.message for line in lines))
    assert lines[-1].level in {"wrong", "warning"} and lines[-1].hint


def test_training_mode_is_seen(files, bars, real):
    classifier = AdaptedClassifier("m", files.module(), bars.classes)
    classifier.network.module.train()
    images, labels = probe_images(real)
    assert any("training mode" in line.message for line in probe(classifier, images, labels, bars.classes))


def test_permuted_order_names_the_classes_to_pass(files, bars, real):
    turned = Around(files.module(), after=lambda s: s[:, [1, 2, 0]])
    hint = lines_of(bars, real, turned)[-1].hint
    own = eval(hint.partition(" = ")[2])
    images, labels = probe_images(real)
    put_right = load_classifier(turned, domain=bars, classes=own)
    assert float((put_right(images).argmax(1) == labels).float().mean()) == 1.0


@pytest.mark.parametrize(
    ("before", "says"),
    [
        (lambda x: x / 255, "values 0 to 255"),
        (lambda x: (x + 1) / 2, "values -1 to 1"),
        (lambda x: 1 - x, "values 1 to 0"),
        (lambda x: x.mean(1, keepdim=True) if x.shape[1] == 3 else x[:, :0], "RGB"),
    ],
)
def test_conventions_are_found(files, bars, real, before, says):
    sharp = files.module()
    module = Around(sharp, before, lambda s: s + 8 * (s.max(1, keepdim=True).values < -8) * s.roll(1, 1))
    classifier = load_classifier(module, domain=bars)
    images, labels = probe_images(real)
    assert says in classifier.notes[0]
    assert float((classifier(images).argmax(1) == labels).float().mean()) > 0.9


def test_conventions_under_which_a_model_says_the_same_are_one(files, bars):
    note = load_classifier(nn.Sequential(nn.AvgPool2d((6, 2)), nn.Flatten()), domain=bars).notes[0]
    assert "values 0 to 1 (tried" in note, "it only compares bars: the plainest of all"


def made(range_, losses, answers=(0, 1), right=None, tempered=None):
    """A trial with these losses, each on as many images."""
    loss, cooler = (
        torch.tensor(each, dtype=torch.float64).repeat_interleave(100) for each in (losses, tempered or losses)
    )
    right = loss < 0.6 if right is None else right
    return Trial(Preprocessing(range=range_), right, loss, cooler, torch.tensor(answers))


def test_the_likelihood_decides_where_accuracy_hardly_does():
    wanted, blown_up = made((-1, 1), [0.05, 0.1]), made((0, 255), [0.0, 3.0], answers=(0, 0), right=torch.ones(200) > 0)
    assert contenders([blown_up, wanted]) == [wanted]


def test_conventions_that_cannot_be_told_apart_contend_unless_they_say_the_same():
    first, second = made((0, 1), [0.1, 0.2]), made((-1, 1), [0.2, 0.1], answers=(1, 1))
    assert contenders([first, second]) == [first, second]
    same = made((-1, 1), [0.2, 0.05])
    assert contenders([first, same]) == [first], "the plainest of those that say the same"
    hopeless = made((1, 0), [2.0, 2.1], answers=(1, 0))
    assert contenders([hopeless, first]) == [first]


def test_a_convention_that_is_right_more_often_is_not_overruled():
    unsure = made((0, 1), [0.5, 0.5], right=torch.arange(200) < 150)
    surer = made((0, 255), [0.0, 2.0], answers=(1, 1), right=torch.arange(200) < 190)
    assert contenders([unsure, surer]) == [unsure, surer]


def test_contrast_that_only_makes_a_network_surer_of_itself_is_no_proof():
    """A network that is not sure enough likes more contrast than it wants; at the best temperature it does not."""
    wanted = made((0, 1), [0.25, 0.2], tempered=[0.04, 0.05])
    surer = made((-1, 1), [0.12, 0.11], answers=(1, 1), tempered=[0.07, 0.08])
    assert contenders([wanted, surer]) == [surer, wanted], "asked, whichever likelihood is smaller"


def test_a_little_better_on_every_image_is_clearly_better():
    first, second = made((0, 1), [0.25, 0.26]), made((1, 0), [0.27, 0.28], answers=(1, 1))
    assert contenders([second, first]) == [first]


def test_what_cannot_be_told_apart_is_asked_in_words_and_commands():
    asked = Undecided([made((0, 1), [0.1, 0.2]), made((-1, 1), [0.2, 0.1])])
    assert "values 0 to 1 (right on 100.0% of 200 real images, mean loss 0.15) or values -1 to 1" in asked.message
    assert asked.choices == ({"range": "0,1"}, {"range": "-1,1"}) and asked.exit_code == 2
    assert commands(asked.choices, ["test", "m.pt", "--domain", "x"]) == [
        "foible test m.pt --domain x --range=0,1",
        "foible test m.pt --domain x --range=-1,1",
    ]
    assert commands(asked.choices[1:], ["run", "r.toml"]) == ["foible run r.toml --set 'classifier.range=[-1,1]'"]


def test_where_the_colours_are_asked_for_every_choice_names_them():
    plain, other = made((0, 1), [0.1, 0.2]), made((0, 1), [0.2, 0.1])
    blue_first = replace(other, preprocessing=replace(other.preprocessing, colours="bgr"))
    choices = Undecided([plain, blue_first]).choices
    assert choices == ({"range": "0,1", "colours": "rgb"}, {"range": "0,1", "colours": "bgr"})


def test_colours_that_do_not_matter_to_a_model_are_asked_for():
    """It takes the brightest place for the class, with a little help from red: nothing says which channel red is."""
    images = 0.4 * torch.rand(300, 3, 4, 4, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(300) % 3
    images[torch.arange(300), :, labels] += 0.6

    def network(x):
        return 20 * (x.mean(1) + 0.5 * (x[:, 0] - x[:, 2])).mean(2)[:, :3]

    with pytest.raises(Undecided) as asked:
        choose(ModuleNetwork(Around(nn.Identity(), after=network)), Said(), images, labels)
    assert {said["colours"] for said in asked.value.choices} == {"rgb", "bgr"}


WAYS = {
    "values 0 to 1": {},
    "values 0 to 255": {"range": (0.0, 255.0)},
    "values -1 to 1": {"range": (-1.0, 1.0)},
    "standardised": {"mean": (0.1307,), "std": (0.3081,)},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_real_network_is_understood(way):
    """A network that knows its images in one way is never taken for one that wants another: found out, or asked."""
    inner, wants = load_model(entry("mnist-lenet5").path(), "classifiers", "lenet5"), Preprocessing(**way)

    def back(x):
        return ((x * wants.std[0] + wants.mean[0]) - wants.range[0]) / (wants.range[1] - wants.range[0])

    domain = load_domain("mnist")
    found = load_classifier(Around(inner, back).eval(), domain=domain, data="sample").preprocessing
    assert found.range == wants.range
    assert (
        len(found.mean) == 1 and abs(found.mean[0] - wants.mean[0]) < 0.02 and abs(found.std[0] - wants.std[0]) < 0.02
    )


@pytest.mark.parametrize(
    ("wants", "says"),
    [
        (Preprocessing(colours="bgr"), "BGR, values 0 to 1"),
        (Preprocessing(colours="bgr", range=(0.0, 255.0), mean=CAFFE_MEAN), "BGR, values 0 to 255, mean 103.9, 116.8"),
        (Preprocessing(range=(-1.0, 1.0)), "values -1 to 1"),
    ],
)
def test_blue_may_come_first(wants, says):
    """The class is the brightest colour, beyond a threshold that only the right scale meets."""
    images = torch.full((90, 3, 4, 4), 0.3) + 0.1 * torch.rand(90, 3, 4, 4, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(90) % 3
    images[torch.arange(90), labels] += 0.4

    def network(x):
        x = x * torch.tensor(wants.std).view(1, -1, 1, 1) + torch.tensor(wants.mean).view(1, -1, 1, 1)
        x = (x - wants.range[0]) / (wants.range[1] - wants.range[0])
        colours = (x.flip(1) if wants.colours == "bgr" else x).mean((2, 3))
        return -80 * (colours - 0.75).abs()

    chosen = choose(ModuleNetwork(Around(nn.Identity(), after=network)), Said(), images, labels)
    assert says in chosen.note


@pytest.mark.parametrize(
    ("problem", "helps"),
    [
        ("it gives scores of shape (2, 10, 1, 1)", "flatten"),
        ("it gives scores of shape (10,)", "batch"),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x784 and 3072x10)", "--size"),
        ("RuntimeError: Given groups=1, expected input[2, 3, 28, 28] to have 1 channels", "--channels"),
        ("RuntimeError: Input type (float) and bias type (double) should be the same", "float64"),
        ("torch.OutOfMemoryError: CUDA out of memory", "memory"),
        ("KeyError: 'features'", "own code"),
        ("PermissionError: [Errno 1] Operation not permitted: '/etc'", "--trusted"),
        ("Oops: something else", "--size"),
    ],
)
def test_each_cause_has_its_own_hint(problem, helps):
    assert helps in hint_for(problem)


def test_channels_last_and_double_precision_are_found_out(files, bars):
    last = Around(files.module(), before=lambda x: x.permute(0, 3, 1, 2) if x.shape[3] == 1 else x[:, :0])
    assert load_classifier(last, domain=bars).preprocessing.layout == "nhwc"
    double = Around(files.module().double(), before=lambda x: x, after=lambda s: s.float())
    assert load_classifier(double, domain=bars).preprocessing.dtype == "float64"


def test_what_is_said_is_not_probed(files, bars):
    classifier = load_classifier(files.module(), domain=bars, mean=0.5, std=[0.5])
    assert "as you say" in classifier.notes[0] and classifier.preprocessing.mean == (0.5,)


def test_other_sizes_are_tried(bars, files):
    with pytest.raises(Undecided, match="32x32"):  # it has never learnt anything: any scale is as good
        load_classifier(nn.Sequential(nn.AvgPool2d(8), nn.Flatten(), nn.Linear(16, 3)), domain=bars)


def test_a_model_that_gives_nothing_but_nan_is_not_tried_at_every_size(bars, real):
    shapes = set()

    def blind(x):
        shapes.add(tuple(x.shape[1:]))
        return torch.full((len(x), 3), torch.nan)

    classifier = load_classifier(Around(nn.Identity(), after=blind), domain=bars)
    assert shapes == {(1, 6, 6)}
    [*_, last] = probe(classifier, *probe_images(real), bars.classes)
    assert last.level == "wrong" and "NaN" in last.message


def test_a_model_that_takes_no_such_image_is_refused(bars):
    with pytest.raises(ModelError, match="cannot take images of the domain, 1x6x6"):
        load_classifier(nn.Sequential(nn.Flatten(), nn.Linear(7, 3)), domain=bars)


def test_wrong_number_of_scores_is_refused(bars):
    with pytest.raises(ModelError, match="gave 5 scores, the domain 'bars' has 3 classes"):
        load_classifier(nn.Sequential(nn.Flatten(), nn.Linear(36, 5)), domain=bars)


@pytest.mark.parametrize("kind", ["probabilities", "log-probabilities"])
def test_output_is_seen(files, bars, kind):
    behind = {"probabilities": lambda s: s.softmax(1), "log-probabilities": lambda s: s.log_softmax(1)}[kind]
    classifier = load_classifier(Around(files.module(), after=behind), domain=bars)
    assert classifier.output == kind and f"output: {kind} (seen)" in classifier.notes


def test_photographs_are_tried_in_pieces_and_only_some_are_blended():
    asked = []

    def ask(images):
        asked.append(len(images))
        return torch.rand(len(images), 3)

    trial(Preprocessing(), ask, torch.rand(30, 3, 224, 224), torch.arange(30) % 3)
    assert max(asked) <= 20 and sum(asked) == 30 + 20
    asked.clear()
    trial(Preprocessing(), ask, torch.rand(300, 1, 28, 28), torch.arange(300) % 3)
    assert asked == [600], "small ones at once, each with a blend"
