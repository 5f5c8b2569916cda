"""Judge the images at a path, one line per image."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import torch

from foible.domains import Domain
from foible.errors import DataError
from foible.files import disk_errors, replacing
from foible.judging.labels import read_labels
from foible.judging.sources import Submitted, ahead, in_batches, submitted
from foible.store.cells import cell
from foible.validators.judge import Judge

BATCH = 256  # images judged at a time: memory does not grow with their number


@dataclass(frozen=True)
class FileVerdict:
    """One line of the result; `expected` and what follows from it are None where no class was given."""

    file: str
    expected: int | None
    valid: bool
    validity: float
    label: int
    label_name: str
    kept: bool | None
    kept_score: float | None
    ambiguity: float
    why: str


def judge_files(
    path: Path,
    domain: Domain,
    labels: Path | None = None,
    calibration: Path | None = None,
    damaged: list[str] | None = None,
) -> Iterator[FileVerdict]:
    """Verdicts on all images at a path, in the order of their names.

    Args:
        path: a picture, an array, a folder, a class-per-folder tree, or an npz.
        domain: what the images are meant to be of.
        labels: a csv file with the columns file,expected; it goes before what folders or an npz say.
        calibration: a file with thresholds fitted to people's answers.
        damaged: collects what is said of files that cannot be read; None: the first of them ends it all.
    """
    given = read_labels(labels, domain) if labels is not None else {}
    judge, used = Judge(domain, calibration), set[str]()
    for batch in ahead(in_batches(submitted(path, domain, damaged), BATCH)):
        keys = [_key(name, given) for name in batch.names]
        used.update(k for k in keys if k is not None)
        expected = [given[k] if k is not None else e for k, e in zip(keys, batch.expected, strict=True)]
        yield from _verdicts(judge, domain, batch, expected)
    unknown = sorted(given.keys() - used)
    if unknown and not damaged:
        raise DataError(
            f"{len(unknown)} lines of '{labels}' name no image of '{path}', the first is '{unknown[0]}'",
            "write paths relative to the folder of images",
        )


def write_verdicts(path: Path, verdicts: Iterable[FileVerdict]) -> list[FileVerdict]:
    """Write a csv file, whole or not at all, and give back what was written."""
    written = []
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, partial.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(f.name for f in fields(FileVerdict))
        for verdict in verdicts:
            writer.writerow(cell(_text(value)) for value in astuple(verdict))
            written.append(verdict)
    return written


def _verdicts(judge: Judge, domain: Domain, batch: Submitted, expected: list[int | None]) -> Iterator[FileVerdict]:
    known = torch.tensor([e if e is not None else -1 for e in expected])
    said = judge.judgement(batch.images, known)
    for row, (name, wanted) in enumerate(zip(batch.names, expected, strict=True)):
        label, valid, asked = int(said.label[row]), bool(said.valid[row]), wanted is not None
        yield FileVerdict(
            file=name,
            expected=wanted,
            valid=valid,
            validity=float(said.validity[row]),
            label=label,
            label_name=domain.classes[label],
            kept=bool(said.kept[row]) if asked else None,
            kept_score=float(said.kept_score[row]) if asked else None,
            ambiguity=float(said.ambiguity[row]),
            why=said.why_kept[row] if valid else said.why_valid[row],
        )


def _key(name: str, given: dict[str, int]) -> str | None:
    """Under which of its names a labels file calls an image: whole path, file name, or number in an array."""
    return next((k for k in (name, name.rpartition("/")[2], name.rpartition("#")[2]) if k in given), None)


def _text(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else value
