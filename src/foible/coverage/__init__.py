"""How much of a model's behaviour some inputs exercise: arrays only, no models.

Reading order: scope (what is measured), batch (activations as units), profile (what units do on ordinary data),
criterion (what every coverage criterion can do), cells (those made of cells); then one file for each family: activation (NC),
sections (kMNC), boundary (NBC, SNAC) and slices (DeepHunter's), ranks (TKNC, BKNC), patterns (TKNP), changes (SS, SV, VS, VV),
surprise with likelihood (LSA, MLSA) and distance (DSA, MDSA), spread (NLC). `order` sorts and thins out suites.

Activation coverage describes which internal behaviours a suite exercised; it is not evidence of correctness or
robustness.
"""

from foible.coverage.batch import Batch, from_values, read
from foible.coverage.criterion import Criterion, Obligations
from foible.coverage.profile import Profile, fitted
from foible.coverage.profile_file import load_profile, save_profile
from foible.coverage.scope import Scope

USUAL = (
    "nc", "kmnc", "nbc", "snac", "tknc", "bknc", "tknp", "ss", "sv", "vs", "vv", "lsa", "dsa", "mdsa", "mlsa", "nlc",
    "nlc-greedy",
)  # fmt: skip

__all__ = [
    "USUAL",
    "Batch",
    "Criterion",
    "Obligations",
    "Profile",
    "Scope",
    "fitted",
    "from_values",
    "load_profile",
    "read",
    "save_profile",
]
