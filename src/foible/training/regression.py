"""The small regressions behind a judge, by scikit-learn and scipy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn import functional

from foible.errors import MissingExtra
from foible.validators.parts import Closeness, Head, squashed
from foible.validators.shapes import Shapes

HELD_BACK = 0.01  # inverse strength of the penalty on weights
HALF = 500.0  # what all good kinds together count, and all bad ones
PROBE = 0.003


def temperatures_for(logits: Tensor, labels: Tensor) -> Tensor:
    """For every member of a panel the number by which its logits (N, R, classes) are best divided (R,).

    Guo et al., "On calibration of modern neural networks", ICML 2017.
    """

    def cost(log_temperature: float, member: int) -> float:
        return float(functional.cross_entropy(logits[:, member] / np.exp(log_temperature), labels))

    found = [minimize_scalar(cost, bounds=(-3, 3), args=(m,), method="bounded").x for m in range(logits.shape[1])]
    return torch.tensor(found, dtype=torch.float32).exp()


def places_of_classes(features: Tensor, labels: Tensor, classes: int, kept: int) -> Closeness:
    """Where the classes lie among features (N, size), in the directions in which images of one class spread."""
    _needs_sklearn()
    from sklearn.decomposition import PCA

    centres = torch.stack([features[labels == c].mean(0) for c in range(classes)])
    within = (features - centres[labels]).double().numpy()
    kept = min(kept, features.shape[1], len(features) - 1)
    spread = PCA(kept, whiten=True, svd_solver="full").fit(within)
    middle = features.mean(0)
    whiten = torch.tensor(spread.components_.T / np.sqrt(spread.explained_variance_ + 1e-6), dtype=torch.float32)
    return Closeness(middle, whiten, (centres - middle) @ whiten)


def head_for(places: Tensor, valid: Tensor, hidden: int, seed: int) -> Head:
    """A hidden layer that tells valid places (N, kept) from invalid ones."""
    _needs_sklearn()
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        (hidden,), alpha=1e-2, learning_rate_init=3e-3, early_stopping=True, max_iter=200, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # early stopping keeps the best
        network.fit(squashed(places).numpy(), valid.long().numpy())
    inner, outer = (torch.tensor(w.T, dtype=torch.float32) for w in network.coefs_)
    inner_bias, outer_bias = (torch.tensor(b, dtype=torch.float32) for b in network.intercepts_)
    return Head(inner, inner_bias, outer, outer_bias)


def nonnegative(tables: Sequence[Tensor], truth: Sequence[float], asked: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (columns,) and bias of a logistic regression on kinds of images; no evidence may speak against itself.

    It is held back strongly: made-up bad images are so easy to tell that a free regression would stake everything on
    whichever evidence happens to tell these ones best.

    Args:
        tables: evidence (N, columns) of every kind; all kinds of one truth count the same together.
        truth: 1 for a good kind, 0 for a bad one.
        asked: columns (columns,) that may have a weight at all.
    """
    _needs_sklearn()
    from sklearn.linear_model import LogisticRegression

    counts = {t: truth.count(t) for t in set(truth)}
    shares = [HALF / counts[t] / len(table) for table, t in zip(tables, truth, strict=True)]
    share = torch.cat([torch.full((len(table),), s) for table, s in zip(tables, shares, strict=True)]).numpy()
    answers = torch.cat([torch.full((len(table),), t) for table, t in zip(tables, truth, strict=True)]).long().numpy()
    shown, used = torch.cat(list(tables)), asked.clone()
    while True:  # drop what would get a negative weight: it only corrects another one's excess
        fit = LogisticRegression(C=HELD_BACK).fit(shown[:, used].numpy(), answers, sample_weight=share)
        if (fit.coef_[0] >= 0).all():
            weights = torch.zeros(shown.shape[1])
            weights[used] = torch.tensor(fit.coef_[0], dtype=torch.float32)
            return weights, torch.tensor(fit.intercept_[0], dtype=torch.float32)
        used[used.nonzero()[:, 0][int(fit.coef_[0].argmin())]] = False


def typical_shapes(outlines: Tensor, labels: Tensor, kept: int, each: int, upright: bool, seed: int) -> Shapes:
    """Typical outlines of every class, from those of real images (N, size)."""
    _needs_sklearn()
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import PCA

    kept = min(kept, outlines.shape[1], len(outlines) - 1)
    main = PCA(kept, svd_solver="full").fit(outlines.double().numpy())
    middle = torch.tensor(main.mean_, dtype=torch.float32)
    directions = torch.tensor(main.components_.T, dtype=torch.float32)
    places, typical = (outlines - middle) @ directions, []
    for name in labels.unique().tolist():
        mine = places[labels == name].numpy()
        grouped = MiniBatchKMeans(min(each, len(mine)), random_state=seed, n_init=1, batch_size=2048).fit(mine)
        typical.append(torch.tensor(grouped.cluster_centers_, dtype=torch.float32))
    return Shapes(middle, directions, torch.cat(typical), torch.tensor(float(upright)))


def probe(features: Tensor, truth: Tensor, strength: float = PROBE) -> tuple[Tensor, Tensor]:
    """Weights and bias of a linear probe on features (N, size): which class (or 0 / 1) is it?"""
    _needs_sklearn()
    from sklearn.linear_model import LogisticRegression

    unit = features.std(0).clamp_min(1e-3)
    fit = LogisticRegression(C=strength, max_iter=300).fit((features / unit).numpy(), truth.long().numpy())
    return torch.tensor(fit.coef_, dtype=torch.float32) / unit, torch.tensor(fit.intercept_, dtype=torch.float32)


def _needs_sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra("scikit-learn", "training", "fitting a judge") from None
