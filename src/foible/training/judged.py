"""What the judge says of a generator's images: the share that a search may start from and be believed."""

from __future__ import annotations

from foible.domains import Domain
from foible.errors import FoibleError
from foible.protocols import Validator
from foible.registry import build
from foible.training.samples import Pairs
from foible.zoo.catalogue import entries


def judge_of(domain: Domain) -> Validator | None:
    """The judge of a domain, where it has one and its weights are here."""
    if domain.judge not in entries():
        return None
    try:
        judge: Validator = build("validators", "judge", {"domain": domain})
    except FoibleError:
        return None  # a reference that it leans on is not installed
    return judge


def named(domain: Domain) -> str:
    """Which judge it was: its name and the beginning of its digest, since judges get better."""
    return f"{domain.judge} (sha256 {entries()[str(domain.judge)].sha256[:12]})"


def share_valid(judge: Validator, pairs: list[Pairs]) -> float:
    """Share of made images that the judge calls valid with the label asked for."""
    kept = sum(all(v.accepted for v in said) for p in pairs for said in judge(p.made, p.labels))
    return kept / sum(len(p.labels) for p in pairs)
