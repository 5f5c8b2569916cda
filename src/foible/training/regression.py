"""The small regressions behind a judge, by scikit-learn and scipy."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn import functional

from foible.errors import MissingExtra
from foible.validators.parts import Closeness, Head, squashed

HELD_BACK = 0.01  # inverse strength of the penalty on weights


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


def weights_for(evidence: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (evidence,) and bias of a logistic regression; no evidence may speak against itself.

    It is held back strongly, in units of the spread among good images: made-up bad images are so easy to tell that a free
    regression would stake everything on whichever evidence happens to tell these ones best.
    """
    _needs_sklearn()
    from sklearn.linear_model import LogisticRegression

    unit = evidence[truth == 1].std(0).clamp_min(1e-6)
    used = torch.ones(evidence.shape[1], dtype=torch.bool)
    while True:  # drop what would get a negative weight: it only corrects another one's excess
        shown = (evidence / unit)[:, used].numpy()
        fit = LogisticRegression(C=HELD_BACK, class_weight="balanced").fit(shown, truth.long().numpy())
        if (fit.coef_[0] >= 0).all():
            weights = torch.zeros(evidence.shape[1])
            weights[used] = torch.tensor(fit.coef_[0], dtype=torch.float32)
            return weights / unit, torch.tensor(fit.intercept_[0], dtype=torch.float32)
        used[used.nonzero()[:, 0][int(fit.coef_[0].argmin())]] = False


def _needs_sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra("scikit-learn", "training", "fitting a judge") from None
