"""The zoo as tables: what `foible ls zoo` and `foible zoo table` show."""

from __future__ import annotations

from dataclasses import dataclass

from foible.domains.domain import Domain, load_domain
from foible.zoo.catalogue import Entry, entries


@dataclass(frozen=True)
class ZooRow:
    """One model in a line."""

    name: str
    domain: str
    family: str
    purpose: str  # generator, classifier, or reference
    megabytes: float
    parameters: int
    figures: str
    licence: str


@dataclass(frozen=True)
class GeneratorRow:
    """A generator as in the published Table II, with the share of origins it gives."""

    domain: str
    family: str
    name: str
    latent_size: int | None
    training_seconds: float
    decode_ms: float | None
    viable_origins: float | None


def zoo_rows() -> list[ZooRow]:
    """Every model of the zoo, by domain: generators, classifiers, references."""
    rows = [_row(e, load_domain(e.domain)) for e in entries().values()]
    order = ("generator", "classifier", "reference")
    return sorted(rows, key=lambda r: (r.domain, order.index(r.purpose), r.name))


def generator_rows() -> list[GeneratorRow]:
    """Every generator of the zoo with the numbers of the published Table II."""
    rows = [
        GeneratorRow(
            domain=e.domain,
            family=e.family,
            name=e.name,
            latent_size=int(e.figures["latent_size"]) if "latent_size" in e.figures else None,
            training_seconds=e.training_seconds,
            decode_ms=e.figures.get("decode_ms"),
            viable_origins=e.figures.get("viable_origins"),
        )
        for e in entries().values()
        if e.role == "generators"
    ]
    return sorted(rows, key=lambda r: (r.domain, r.family))


SHOWN = {
    "test_accuracy": ("accuracy {:.2%}"),
    "viable_origins": ("viable origins {:.1%}"),
    "recognised": ("recognised {:.1%}"),
    "fid": ("FID {:.2f}"),
    "decode_ms": ("{:.2f} ms/image"),
}


def _row(e: Entry, domain: Domain) -> ZooRow:
    purpose = "reference" if e.name in domain.references else e.role.removesuffix("s")
    figures = ", ".join(text.format(e.figures[name]) for name, text in SHOWN.items() if name in e.figures)
    return ZooRow(e.name, e.domain, e.family, purpose, e.bytes / 1e6, e.parameters, figures, e.licence)
