"""Exports: a zip with telling file names, a class-per-folder tree to train on, a Parquet table."""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

from foible.errors import MissingExtra, RecipeError
from foible.files import disk_errors
from foible.store.reader import Run
from foible.types import Arm, Finding

COLUMNS = (
    "file",
    "origin_file",
    "attempt",
    "number",
    "expected",
    "predicted",
    "confidence",
    "evaluations",
    "rounds",
    "latent_distance",
    "pixel_distance",
)


def safe(text: str) -> str:
    """A class or recipe name that is fine in a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "unnamed"


def stem(run: Run, finding: Finding) -> str:
    """A file name that tells the whole story: which finding, expected, predicted, at what cost, how sure."""
    expected, predicted = safe(run.classes[finding.label]), safe(run.classes[finding.predicted])
    return (
        f"{safe(run.name)}_{finding.key.padded}_expected-{expected}_predicted-{predicted}"
        f"_evaluations-{finding.evaluations}_confidence-{finding.confidence:.2f}"
    )


def to_zip(run: Run, path: Path) -> int:
    """Failures and their origins, a table and the manifest in one zip; gives the number of findings."""
    count, table = 0, io.StringIO()
    writer = csv.DictWriter(table, COLUMNS)
    writer.writeheader()
    with disk_errors(path), zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:  # PNG does not compress further
        for finding in run.findings():
            name = stem(run, finding)
            archive.write(run.layout.folder / finding.image, f"{name}.png")
            archive.write(run.layout.folder / finding.origin_image, f"{name}_origin.png")
            writer.writerow(_row(run, finding, f"{name}.png", f"{name}_origin.png"))
            count += 1
        archive.writestr("findings.csv", table.getvalue())
        archive.write(run.layout.manifest, "manifest.json")
    return count


def to_tree(run: Run, folder: Path) -> int:
    """Failures in one subfolder per expected class, ready to train on; gives the number of findings."""
    if folder.exists() and any(folder.iterdir()):
        raise RecipeError(f"'{folder}' is not empty", "name a new folder")
    count = 0
    with disk_errors(folder):
        for finding in run.findings():
            target = folder / safe(run.classes[finding.label]) / f"{stem(run, finding)}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(run.layout.folder / finding.image, target)
            count += 1
    return count


def to_parquet(run: Run, path: Path) -> int:
    """All findings of both arms with latents and probabilities as one table; gives its number of rows."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "analysis", "the Parquet export") from None
    rows = [_full_row(run, finding) for arm in Arm for finding in run.findings(arm)]
    with disk_errors(path):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=_schema(pyarrow)), path, compression="zstd")
    return len(rows)


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
    kinds |= dict.fromkeys(("attempt", "number", "evaluations", "rounds"), whole)
    kinds |= dict.fromkeys(("confidence", "latent_distance", "pixel_distance"), number)
    kinds |= dict.fromkeys(("probabilities", "origin_probabilities", "latent", "origin_latent"), numbers)
    return pyarrow.schema(list(kinds.items()))
