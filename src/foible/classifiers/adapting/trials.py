"""One way of scaling images tried on a model, and which of several fits: by mean negative log-likelihood.

Accuracy alone cannot tell conventions apart: a network that wants [-1, 1] is right nearly as often on 0 to 255. But it is
then sure of its mistakes, which the likelihood punishes. The likelihood alone cannot either: more contrast than a network
wants makes it surer of itself, which a network that is not sure enough is rewarded for. So each convention is also looked at
with the temperature of its scores that suits it best, and the two looks must not contradict each other. Two conventions under
which a model answers the same on every image, real or blended, are one for our purpose: the plainer is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from foible.classifiers.adapting.preprocessing import Preprocessing
from foible.classifiers.adapting.scores import class_order, output_kind, to_logits
from foible.images import worth_a_look
from foible.types import Images

GOOD = 0.5  # an accuracy from which on a convention is taken to be found
SURE = 0.99  # share of resamples of the images in which the best convention must stay the best
MARGIN, SURE_BY_MARGIN = 1.3, 0.95  # where only the scores as they are speak against another: how much, in what share
TEMPERATURES = torch.logspace(-3, 1.5, 46, dtype=torch.float64)  # by which scores are multiplied
BLENDED = 500  # images that are blended too, fewer of large ones
ENOUGH = 100  # images from which on resamples alone say something
RESAMPLES = 1000
BY_CHANCE = 0.05  # how likely chance may make a convention right so much more often that it is not overruled
LARGEST_LOSS = 100.0  # for one image, whatever a model says


@dataclass(frozen=True)
class Trial:
    """What a model gives under one convention: right (N,) and loss (N,) on real images, its answers on all images.

    `tempered` (N,) is the loss at the temperature of the scores that suits the convention best.
    `reordered` holds the same for classes in the order that fits best, should theirs be another.
    """

    preprocessing: Preprocessing
    right: Tensor
    loss: Tensor
    tempered: Tensor
    answers: Tensor
    reordered: Trial | None = None

    @property
    def accuracy(self) -> float:
        """Share of the real images that come out right."""
        return float(self.right.float().mean())

    @property
    def mean_loss(self) -> float:
        """Mean negative log-likelihood on the real images."""
        return float(self.loss.mean())

    @property
    def figures(self) -> str:
        """Both in words."""
        return f"right on {self.accuracy:.1%} of {len(self.right)} real images, mean loss {self.mean_loss:.3g}"


def trial(preprocessing: Preprocessing, ask: Callable[[Images], Tensor], images: Images, labels: Tensor) -> Trial:
    """Ask a model about real images, and about blends of them."""
    everything = torch.cat([images, blends(images[: worth_a_look(images.shape, BLENDED)])])
    pieces = everything.split(
        worth_a_look(images.shape, len(everything))
    )  # a hundred photographs at once take twice as long
    scores = torch.cat([ask(piece).cpu() for piece in pieces])
    real = scores[: len(images)]
    if not bool(torch.isfinite(scores).all()) or scores.shape[1] <= int(labels.max()):
        nothing, all_lost = torch.zeros(len(labels), dtype=torch.bool), torch.full((len(labels),), LARGEST_LOSS)
        lost = Trial(preprocessing, nothing, all_lost, all_lost, nothing)
        return replace(lost, reordered=lost)
    logits = to_logits(real, output_kind(real)).double()

    def against(expected: Tensor) -> Trial:
        losses = _loss(logits, expected), _tempered(logits, expected)
        return Trial(preprocessing, real.argmax(1) == expected, *losses, scores.argmax(1))

    return replace(against(labels), reordered=against(class_order(real, labels)[labels]))


def blends(images: Images) -> Images:
    """As many images between and beside real ones as there are: halves of two, and noisy ones."""
    rng = torch.Generator().manual_seed(0)
    half = len(images) // 2
    mixed = (images[:half] + images.flip(0)[:half]) / 2
    noise = torch.rand(images[half:].shape, generator=rng)
    return torch.cat([mixed, 0.5 * images[half:] + 0.5 * noise.to(images)])


def contenders(trials: Sequence[Trial]) -> list[Trial]:
    """The best trial first, then those that cannot be told from it and would answer otherwise.

    Told apart means: clearly better, and not right on fewer images beyond chance.
    """
    best = _plainest(trials, min(trials, key=lambda t: t.mean_loss))
    rivals = [t for t in trials if t is not best and t.accuracy >= GOOD and not _same(best, t)]
    return [best, *(t for t in rivals if not clearly_better(best, t) or _more_often_right(t, best))]


def _plainest(trials: Sequence[Trial], best: Trial) -> Trial:
    """The first of the trials under which the model says the same as under the best."""
    return next(t for t in trials if t is best or _same(t, best))


def _same(first: Trial, second: Trial) -> bool:
    return torch.equal(first.answers, second.answers)


def clearly_better(first: Trial, second: Trial) -> bool:
    """Whether the first has the smaller loss in nearly all resamples of the images: at the best temperatures, or by a
    margin as the scores are. What the other of the two looks shows must not be against it."""
    as_they_are, tempered = second.mean_loss - first.mean_loss, float((second.tempered - first.tempered).mean())
    if min(as_they_are, tempered) < 0:
        return False
    if len(first.tempered) >= ENOUGH and _ahead(first.tempered, second.tempered):
        return True
    return second.mean_loss >= MARGIN * first.mean_loss and _ahead(first.loss, second.loss, SURE_BY_MARGIN)


def _ahead(first: Tensor, second: Tensor, sure: float = SURE) -> bool:
    """Whether the mean of the first losses (N,) is smaller in nearly all resamples of the images."""
    rng = torch.Generator().manual_seed(0)
    picks = torch.randint(len(first), (RESAMPLES, len(first)), generator=rng)
    return float(((second - first)[picks].mean(1) > 0).double().mean()) >= sure


def _more_often_right(first: Trial, second: Trial) -> bool:
    """Whether the first is right on more images beyond chance: a sign test on those that only one of them gets right."""
    from scipy.stats import binomtest  # slow to import

    wins, losses = int((first.right & ~second.right).sum()), int((second.right & ~first.right).sum())
    return wins > losses and binomtest(wins, wins + losses, alternative="greater").pvalue < BY_CHANCE


def _loss(logits: Tensor, labels: Tensor) -> Tensor:
    return -logits.log_softmax(1)[torch.arange(len(labels)), labels].clamp_min(-LARGEST_LOSS)


def _tempered(logits: Tensor, labels: Tensor) -> Tensor:
    """The losses at the temperature at which their mean is smallest."""
    return min((_loss(t * logits, labels) for t in TEMPERATURES), key=lambda losses: float(losses.mean()))
