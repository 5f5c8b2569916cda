"""From images of good and bad kinds to the weights of the evidence, once for every company of readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import torch
from torch import Tensor

from foible.training.asked import Asked, drawn
from foible.training.invalid import Kind
from foible.training.regression import nonnegative
from foible.types import Images
from foible.validators.evidence import Evidence, columns
from foible.validators.fitted import Fitted, crew
from foible.validators.parts import Weighing

TRUST = 0.5  # in company a source's log-probabilities are halved before they are added: none is as sure as it says


@dataclass(frozen=True)
class Shown:
    """Images of one kind and the raw evidence of all readers on them."""

    images: Images
    labels: Tensor
    evidence: Evidence


def show(
    parts: Fitted,
    kinds: Mapping[str, Kind],
    images: Images,
    labels: Tensor,
    each: int,
    same: Mapping[str, Sequence[int]],
) -> dict[str, Shown]:
    """So many images of every kind, made of real ones in turn.

    Args:
        parts: a judge whose parts are fitted; its weighings do not matter.
        kinds: what to make.
        images: real images; every kind takes the next ones, from the start again after the last.
        labels: their classes.
        each: how many of a kind.
        same: classes that a kind leaves as good as they were; their images are not used for it.
    """
    witnesses, made, start = parts.witnesses(parts.readers), {}, 0
    for name, kind in kinds.items():
        wanted = ~torch.isin(labels, torch.tensor(list(same.get(name, ())), dtype=labels.dtype))
        usable = wanted.nonzero()[:, 0].roll(-start)[:each]
        start += each
        changed = kind(images[usable], labels[usable]).clamp(0, 1)
        rounded = (changed * 255).round() / 255  # the judge sees images from disk
        made[name] = Shown(rounded, labels[usable], witnesses.raw(rounded))
    return made


def companies(readers: Sequence[str]) -> list[tuple[str, ...]]:
    """Every company of readers that may be installed, in the order of the table."""
    return [company for size in range(len(readers) + 1) for company in combinations(readers, size)]


def part_of(evidence: Evidence, readers: Sequence[str], present: Sequence[str], classifiers: int) -> Evidence:
    """The evidence of some of the readers, from that of all."""
    every = columns(readers)
    table = evidence.table[:, [every.index(c) for c in columns(present)]]
    heard = [readers.index(r) for r in present]
    seen = [*range(classifiers), *(classifiers + place for place in heard)]
    return Evidence(table, evidence.sources[:, [0, *(1 + place for place in heard)]], evidence.seen[:, seen])


def scaled(parts: Fitted, evidence: Evidence, present: Sequence[str]) -> Tensor:
    """The table of some of the readers, set against good images."""
    return in_company(parts, evidence, present).table


def weigh(
    parts: Fitted,
    good: Mapping[str, Shown],
    bad: Mapping[str, Shown],
    use: Sequence[str],
    real: Evidence,
    called_invalid: float,
    people: tuple[Asked, Evidence] | None = None,
) -> Fitted:
    """The judge with weights for every company of readers.

    Args:
        parts: all but the weighings.
        good: kinds that are valid; each counts the same, whatever its number of images.
        bad: kinds that are not.
        use: embedded columns that have a say; those of readers always have one.
        real: raw evidence of plain real images, by which the line is drawn.
        called_invalid: share of them that may fall below it.
        people: answers to which the weights are drawn, with the raw evidence on the images they are about.
    """
    weighings, before = {}, {}
    for present in companies(parts.readers):
        names = columns(present)
        asked = torch.tensor([" " in n or n in use for n in names])
        tables = [scaled(parts, s.evidence, present) for s in (*good.values(), *bad.values())]
        truth = [float(k < len(good)) for k in range(len(tables))]
        weights, bias = nonnegative(tables, truth, asked)
        weighing = Weighing(weights, bias, torch.full((1 + len(present),), TRUST if present else 1.0))
        usual = scaled(parts, real, present)
        if (
            people is not None and present == parts.readers
        ):  # alone, what people never saw would pass: they saw no nonsense
            before[crew(present)] = with_line(weighing, usual, called_invalid)
            asked_about, told = people
            answered = asked_about.answered(in_company(parts, told, present))
            weighing = drawn(weighing, answered)
        weighings[crew(present)] = with_line(weighing, usual, called_invalid)
    return replace(parts, weighings=weighings, before=before)


def in_company(parts: Fitted, evidence: Evidence, present: Sequence[str]) -> Evidence:
    """Raw evidence of all readers as that of some, set against good images."""
    mine = part_of(evidence, parts.readers, present, len(parts.panel.members))
    return replace(mine, table=parts.scale_for(present)(mine.table, columns(present)))


def with_line(weighing: Weighing, real: Tensor, called_invalid: float) -> Weighing:
    """A weighing whose line turns this share of real images away, by their scaled evidence (N, columns)."""
    margins = real @ weighing.weights
    return replace(weighing, bias=-margins.quantile(called_invalid))
