"""The zoo as tables: what `foible ls zoo` and `foible zoo table` show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from foible.domains.domain import domain_names, load_domain
from foible.metrics.rates import rate
from foible.zoo.catalogue import Entry, cards
from foible.zoo.trainable import Trainable, trainable

PURPOSES = ("generator", "classifier", "reference", "judge")


@dataclass(frozen=True)
class ZooRow:
    """One model in a line; a model that has a training recipe but no card has no numbers."""

    name: str
    domain: str
    family: str
    purpose: str  # one of PURPOSES
    installed: bool
    megabytes: float | None
    parameters: int | None
    figures: str
    licence: str


@dataclass(frozen=True)
class GeneratorRow:
    """A generator as in the published Table II, with the shares of origins that classifier and judge accept."""

    domain: str
    family: str
    name: str
    latent_size: int | None
    training_seconds: float
    decode_ms: float | None
    viable_origins: float | None
    judged_valid: float | None
    judged_images: int | None


def zoo_rows() -> list[ZooRow]:
    """Every model with a card or a training recipe, by domain: generators, classifiers, references."""
    references = {name for domain in domain_names() for name in load_domain(domain).references}
    known = cards()
    rows = [_row(e, references) for e in known.values()]
    rows += [_wanted(t, references) for t in trainable().values() if t.name not in known]
    return sorted(rows, key=lambda r: (r.domain, PURPOSES.index(r.purpose), r.name))


def generator_rows() -> list[GeneratorRow]:
    """Every generator with a card, with the numbers of the published Table II."""
    rows = [
        GeneratorRow(
            domain=Path(e.domain).stem,
            family=e.family,
            name=e.name,
            latent_size=int(e.figures["latent_size"]) if "latent_size" in e.figures else None,
            training_seconds=e.training_seconds,
            decode_ms=e.figures.get("decode_ms"),
            viable_origins=e.figures.get("viable_origins"),
            judged_valid=e.figures.get("judged_valid"),
            judged_images=(e.model_extra or {}).get("measured", {}).get("judged_images"),
        )
        for e in cards().values()
        if e.role == "generators"
    ]
    return sorted(rows, key=lambda r: (r.domain, r.family))


def generator_table(rows: list[GeneratorRow]) -> list[tuple[str, ...]]:
    """The rows as text under a heading; a figure that nobody has measured is a dash."""
    heading = (
        "domain",
        "family",
        "model",
        "latent size",
        "training time",
        "inference time",
        "usable starting images",
        "judged valid",
    )
    lines = [
        (
            r.domain,
            r.family,
            r.name,
            _shown(r.latent_size, "{:,}"),
            duration(r.training_seconds),
            _shown(r.decode_ms, "{:.2f} ms"),
            _shown(r.viable_origins, "{:.1%}"),
            interval(r.judged_valid, r.judged_images),
        )
        for r in rows
    ]
    return [heading, *lines]


def markdown(table: list[tuple[str, ...]]) -> str:
    """A table, heading first, in Markdown."""
    heading, *rows = table
    return "\n".join(f"| {' | '.join(row)} |" for row in (heading, ("---",) * len(heading), *rows))


def duration(seconds: float) -> str:
    """Seconds as a reader says them: "45 s", "14 min", "2.5 h"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


SHOWN = {
    "test_accuracy": "accuracy {:.2%}",
    "viable_origins": "usable starting images {:.1%}",
    "judged_valid": "judged valid {:.1%}",
    "recognised": "recognised {:.1%}",
    "fid": "FID {:.2f}",
    "decode_ms": "{:.2f} ms/image",
    "validity_auc": "AUC validity {:.4f}",
    "kept_auc": "label kept {:.4f}",
}


def _row(e: Entry, references: set[str]) -> ZooRow:
    figures = ", ".join(text.format(e.figures[name]) for name, text in SHOWN.items() if name in e.figures)
    return ZooRow(
        name=e.name,
        domain=Path(e.domain).stem,
        family=e.family,
        purpose=_purpose(e, references),
        installed=e.weights is not None,
        megabytes=e.bytes / 1e6,
        parameters=e.parameters,
        figures=figures,
        licence=e.licence,
    )


def _purpose(model: Entry | Trainable, references: set[str]) -> str:
    if model.name in references:
        return "reference"
    return "judge" if model.role == "validators" else model.role.removesuffix("s")


def _wanted(t: Trainable, references: set[str]) -> ZooRow:
    return ZooRow(t.name, t.domain, t.family, _purpose(t, references), False, None, None, "", "")


def interval(share: float | None, total: int | None) -> str:
    """A share with its interval, in per cent."""
    if share is None or total is None:
        return _shown(share, "{:.1%}")
    found = rate(round(share * total), total)
    return f"{share:.1%} [{100 * (found.low or 0):.1f}, {100 * (found.high or 0):.1f}]"


def _shown(value: float | None, text: str) -> str:
    return "-" if value is None else text.format(value)
