"""Numbers about outcomes and findings: pure functions, each with the interval or test that belongs to it."""

from foible.metrics.agreement import Agreement, agreement
from foible.metrics.consensus import ballots, fleiss_kappa, krippendorff_alpha
from foible.metrics.costs import Spread, evaluations_per_failure, spread
from foible.metrics.discrimination import Discrimination, auc, discrimination
from foible.metrics.paired import Paired, paired
from foible.metrics.pairs import ClassPair, class_pairs
from foible.metrics.rates import Rate, rate
from foible.metrics.ratings import acceptability, bias, confusion_score
from foible.metrics.resampling import Estimate, estimate
from foible.metrics.sample_size import needed

__all__ = [
    "Agreement",
    "ClassPair",
    "Discrimination",
    "Estimate",
    "Paired",
    "Rate",
    "Spread",
    "acceptability",
    "agreement",
    "auc",
    "ballots",
    "bias",
    "class_pairs",
    "confusion_score",
    "discrimination",
    "estimate",
    "evaluations_per_failure",
    "fleiss_kappa",
    "krippendorff_alpha",
    "needed",
    "paired",
    "rate",
    "spread",
]
