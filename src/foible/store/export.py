"""Exports: a zip with telling file names, a class-per-folder tree to train on, a Parquet table, JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from foible.errors import MissingExtra, RecipeError
from foible.files import disk_errors, write_whole
from foible.names import Arm
from foible.records import Finding
from foible.store.answers import read_answers
from foible.store.cells import cell
from foible.store.export_rows import COLUMNS, csv_row, full_row, parquet_schema, row
from foible.store.pictures import pictures
from foible.store.reader import Run
from foible.store.selection import COUNTING, EVERYTHING, NOBODY, Wanted, passes

LONGEST = 80  # characters of a name inside a file name


def safe(text: str) -> str:
    """A class or recipe name that is fine in a file name."""
    return re.sub(r"[^\w.-]+", "-", text)[:LONGEST].strip("-.") or "unnamed"


def folder_names(classes: Iterable[str]) -> list[str]:
    """A folder for each class, no two alike."""
    names: list[str] = []
    for number, name in enumerate(map(safe, classes)):
        names.append(f"{name}-{number}" if name in names else name)
    return names


def stem(run: Run, finding: Finding) -> str:
    """A file name that tells the whole story: which finding, expected, predicted, at what cost, how sure."""
    expected, predicted = safe(run.classes[finding.label]), safe(run.classes[finding.predicted])
    return (
        f"{safe(run.name)}_{finding.key.padded}_expected-{expected}_predicted-{predicted}"
        f"_evaluations-{finding.evaluations}_confidence-{finding.confidence:.2f}"
    )


@dataclass(frozen=True)
class Exported:
    """How many findings were written, how many were not wanted, and what was left out because its pictures are damaged."""

    count: int
    unwanted: int = 0
    damaged: tuple[str, ...] = ()


class _Chosen:
    """The findings that are wanted and whose pictures are sound, one after the other; counts and names the others."""

    def __init__(self, run: Run, wanted: Wanted) -> None:
        self.run, self.wanted, self.answers = run, wanted, read_answers(run.layout)
        self.count, self.unwanted, self.damaged = 0, 0, list[str]()

    def __call__(self, arm: Arm = Arm.SEARCH) -> Iterator[tuple[Finding, bytes, bytes]]:
        answers = self.answers if arm is Arm.SEARCH else NOBODY
        for finding in self.run.findings(arm):
            if not passes(finding, self.wanted, answers):
                self.unwanted += 1
                continue
            stored = pictures(self.run, finding)
            if stored.failure is None or stored.origin is None:
                self.damaged.append(f"failure {finding.key}: {'; '.join(stored.damage)}")
                continue
            self.count += 1
            yield finding, stored.failure, stored.origin

    def done(self) -> Exported:
        return Exported(self.count, self.unwanted, tuple(self.damaged))


def to_zip(run: Run, path: Path, wanted: Wanted = EVERYTHING) -> Exported:
    """Failures and their origins, a table and the manifest in one zip."""
    chosen, table = _Chosen(run, wanted), io.StringIO()
    writer = csv.DictWriter(table, COLUMNS)
    writer.writeheader()
    with disk_errors(path), zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:  # PNG does not compress further
        for finding, failure, origin in chosen():
            name = stem(run, finding)
            archive.writestr(f"{name}.png", failure)
            archive.writestr(f"{name}_origin.png", origin)
            facts = csv_row(row(run, finding, chosen.answers, f"{name}.png", f"{name}_origin.png"))
            writer.writerow({k: cell(v) for k, v in facts.items()})
        archive.writestr("findings.csv", table.getvalue())
        archive.writestr("manifest.json", run.layout.manifest.read_bytes())
    return chosen.done()


def to_tree(run: Run, folder: Path, wanted: Wanted = COUNTING) -> Exported:
    """Failures in one subfolder per class, ready to train on: those that count, under the class they still show.

    Every class has its folder, also where it is empty: libraries number classes by the folders they find. The names in
    the order of the labels are in classes.txt.
    """
    if folder.exists() and any(folder.iterdir()):
        raise RecipeError(f"'{folder}' is not empty", "name a new folder")
    chosen, names = _Chosen(run, wanted), folder_names(run.classes)
    with disk_errors(folder):
        for name in names:
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "classes.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        for finding, failure, _ in chosen():
            (folder / names[finding.label] / f"{stem(run, finding)}.png").write_bytes(failure)
    return chosen.done()


def to_json(run: Run, path: Path, wanted: Wanted = EVERYTHING) -> Exported:
    """All findings of both arms as a JSON list, with everything the store knows of them."""
    chosen = _Chosen(run, wanted)
    rows = [full_row(run, finding, chosen.answers) for arm in Arm for finding, _, _ in chosen(arm)]
    write_whole(path, json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    return chosen.done()


def to_parquet(run: Run, path: Path, wanted: Wanted = EVERYTHING) -> Exported:
    """All findings of both arms with latents and probabilities as one table."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "analysis", "the Parquet export") from None
    chosen = _Chosen(run, wanted)
    rows = [full_row(run, finding, chosen.answers) for arm in Arm for finding, _, _ in chosen(arm)]
    for facts in rows:
        facts["measures"] = list(facts["measures"].items())
    table = pyarrow.Table.from_pylist(rows, schema=parquet_schema(pyarrow))
    with disk_errors(path):
        pyarrow.parquet.write_table(table, path, compression="zstd")
    return chosen.done()
