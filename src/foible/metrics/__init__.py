"""Numbers about outcomes and findings: pure functions, each with the interval or test that belongs to it."""

from foible.metrics.agreement import Agreement, agreement
from foible.metrics.censored import Cost, CostTest, log_rank, median_cost, paired_log_rank
from foible.metrics.cochran import CochranQ, cochran_q
from foible.metrics.consensus import ballots, fleiss_kappa, krippendorff_alpha
from foible.metrics.corrections import Correction, corrected
from foible.metrics.costs import Spread, evaluations_per_failure, spread
from foible.metrics.discrimination import Discrimination, auc, discrimination
from foible.metrics.effect import cheaper, size, vargha_delaney
from foible.metrics.mcnemar import PairCounts, exact_mcnemar, pair_counts, paired_odds
from foible.metrics.odds import Odds, fisher_exact, odds_ratio
from foible.metrics.paired import Paired, paired
from foible.metrics.pairs import ClassPair, class_pairs
from foible.metrics.power import detectable_difference, mcnemar_power, origins_needed
from foible.metrics.rates import Rate, rate
from foible.metrics.ratings import acceptability, bias, confusion_score
from foible.metrics.resampling import Estimate, estimate
from foible.metrics.sample_size import needed

__all__ = [
    "Agreement",
    "ClassPair",
    "CochranQ",
    "Correction",
    "Cost",
    "CostTest",
    "Discrimination",
    "Estimate",
    "Odds",
    "PairCounts",
    "Paired",
    "Rate",
    "Spread",
    "acceptability",
    "agreement",
    "auc",
    "ballots",
    "bias",
    "cheaper",
    "class_pairs",
    "cochran_q",
    "confusion_score",
    "corrected",
    "detectable_difference",
    "discrimination",
    "estimate",
    "evaluations_per_failure",
    "exact_mcnemar",
    "fisher_exact",
    "fleiss_kappa",
    "krippendorff_alpha",
    "log_rank",
    "mcnemar_power",
    "median_cost",
    "needed",
    "odds_ratio",
    "origins_needed",
    "pair_counts",
    "paired",
    "paired_log_rank",
    "paired_odds",
    "rate",
    "size",
    "spread",
    "vargha_delaney",
]
