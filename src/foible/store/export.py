"""Exports: a zip with telling file names, a class-per-folder tree to train on, a Parquet table."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foible.errors import MissingExtra, RecipeError
from foible.files import disk_errors
from foible.store.cells import cell
from foible.store.pictures import pictures
from foible.store.reader import Run
from foible.types import Arm, Finding

COLUMNS = (
    "file",
    "origin_file",
    "attempt",
    "expected",
    "predicted",
    "confidence",
    "evaluations",
    "rounds",
    "latent_distance",
    "pixel_distance",
)
LONGEST = 80  # characters of a name inside a file name


def safe(text: str) -> str:
    """A class or recipe name that is fine in a file name."""
    return re.sub(r"[^\w.-]+", "-", text)[:LONGEST].strip("-.") or "unnamed"


def stem(run: Run, finding: Finding) -> str:
    """A file name that tells the whole story: which attempt, expected, predicted, at what cost, how sure."""
    expected, predicted = safe(run.classes[finding.label]), safe(run.classes[finding.predicted])
    return (
        f"{safe(run.name)}_{finding.attempt:06d}_expected-{expected}_predicted-{predicted}"
        f"_evaluations-{finding.evaluations}_confidence-{finding.confidence:.2f}"
    )


@dataclass(frozen=True)
class Exported:
    """How many findings were written, and what was left out because its pictures are not those that were stored."""

    count: int
    damaged: tuple[str, ...] = ()


class _Sound:
    """The findings whose pictures are sound, one after the other; names the others."""

    def __init__(self, run: Run) -> None:
        self.run, self.count, self.damaged = run, 0, list[str]()

    def __call__(self, findings: Iterable[Finding]) -> Iterator[tuple[Finding, bytes, bytes]]:
        for finding in findings:
            stored = pictures(self.run, finding)
            if stored.failure is None or stored.origin is None:
                self.damaged.append(f"finding {finding.attempt}: {'; '.join(stored.damage)}")
                continue
            self.count += 1
            yield finding, stored.failure, stored.origin

    def done(self) -> Exported:
        return Exported(self.count, tuple(self.damaged))


def to_zip(run: Run, path: Path) -> Exported:
    """Failures and their origins, a table and the manifest in one zip."""
    sound, table = _Sound(run), io.StringIO()
    writer = csv.DictWriter(table, COLUMNS)
    writer.writeheader()
    with disk_errors(path), zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:  # PNG does not compress further
        for finding, failure, origin in sound(run.findings()):
            name = stem(run, finding)
            archive.writestr(f"{name}.png", failure)
            archive.writestr(f"{name}_origin.png", origin)
            row = _row(run, finding, f"{name}.png", f"{name}_origin.png")
            writer.writerow({k: cell(v) for k, v in row.items()})
        archive.writestr("findings.csv", table.getvalue())
        archive.writestr("manifest.json", run.layout.manifest.read_bytes())
    return sound.done()


def to_tree(run: Run, folder: Path) -> Exported:
    """Failures in one subfolder per expected class, ready to train on."""
    if folder.exists() and any(folder.iterdir()):
        raise RecipeError(f"'{folder}' is not empty", "name a new folder")
    sound = _Sound(run)
    with disk_errors(folder):
        for finding, failure, _ in sound(run.findings()):
            target = folder / safe(run.classes[finding.label]) / f"{stem(run, finding)}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(failure)
    return sound.done()


def to_parquet(run: Run, path: Path) -> Exported:
    """All findings of both arms with latents and probabilities as one table."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "analysis", "the Parquet export") from None
    sound = _Sound(run)
    rows = [_full_row(run, finding) for arm in Arm for finding, _, _ in sound(run.findings(arm))]
    with disk_errors(path):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=_schema(pyarrow)), path, compression="zstd")
    return sound.done()


def _row(run: Run, finding: Finding, file: str, origin_file: str) -> dict[str, Any]:
    facts = {k: getattr(finding, k) for k in COLUMNS if hasattr(finding, k)}
    names = {"expected": run.classes[finding.label], "predicted": run.classes[finding.predicted]}
    return facts | names | {"file": file, "origin_file": origin_file}


def _full_row(run: Run, finding: Finding) -> dict[str, Any]:
    return _row(run, finding, finding.image, finding.origin_image) | {
        "arm": str(finding.arm),
        "probabilities": list(finding.probabilities),
        "origin_probabilities": list(finding.origin_probabilities),
        "latent": finding.latent.flatten().tolist(),
        "origin_latent": finding.origin_latent.flatten().tolist(),
        "image_sha256": finding.image_sha256,
    }


def _schema(pyarrow: Any) -> Any:
    text, whole, number, numbers = (
        pyarrow.string(),
        pyarrow.int64(),
        pyarrow.float64(),
        pyarrow.list_(pyarrow.float32()),
    )
    kinds = dict.fromkeys(("arm", "expected", "predicted", "file", "origin_file", "image_sha256"), text)
    kinds |= dict.fromkeys(("attempt", "evaluations", "rounds"), whole)
    kinds |= dict.fromkeys(("confidence", "latent_distance", "pixel_distance"), number)
    kinds |= dict.fromkeys(("probabilities", "origin_probabilities", "latent", "origin_latent"), numbers)
    return pyarrow.schema(list(kinds.items()))
