"""The tables and comparisons of a benchmark as files: Markdown, LaTeX, CSV and a page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from foible.benchmark.formats import apart, as_csv, latex, markdown
from foible.benchmark.matrix import Matrix
from foible.benchmark.rivals import Rivalry, paired_comparisons, rivalries
from foible.benchmark.tables import Table, generators_table, results, results_table
from foible.benchmark.weaknesses import weaknesses_table
from foible.files import disk_errors, write_whole
from foible.report.comparison import Comparison
from foible.report.page import environment

FORMATS: dict[str, Callable[[Table], str]] = {".md": markdown, ".tex": latex, ".csv": as_csv}
PAGE = "benchmark.html"


def write_tables(matrix: Matrix, folder: Path, problems: dict[str, str] | None = None) -> Path:
    """Write all tables of a benchmark, finished or not; gives its page.

    Args:
        matrix: the benchmark.
        folder: where its runs are; gets tables/ and the page.
        problems: why cells could not run, by name.
    """
    found = results(matrix, folder)
    tables = [results_table(found), weaknesses_table(found), generators_table(matrix)]
    paired, unpaired = paired_comparisons(found), rivalries(found)
    files = {folder / "tables" / f"{t.name}{end}": write(t) for t in tables for end, write in FORMATS.items()}
    files[folder / "tables" / "comparisons.md"] = _comparisons(paired, unpaired)
    page = environment(Path(__file__).parent).get_template("page.html.jinja")
    files[folder / PAGE] = page.render(
        matrix=matrix, tables=tables, apart=apart, comparisons=paired, rivalries=unpaired, problems=problems or {}
    )
    with disk_errors(folder):
        (folder / "tables").mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        write_whole(path, content)
    return folder / PAGE


def _comparisons(paired: Sequence[Comparison], unpaired: Sequence[Rivalry]) -> str:
    lines = ["## Comparisons", ""]
    for comparison in paired:
        names = ", ".join(side.name for side in comparison.sides)
        lines += [f"On the same starting images: {names}.", ""]
        lines += [f"- {sentence}" for sentence in comparison.sentences]
        lines += ["", *(f"{note}" for note in comparison.notes), ""]
    if unpaired:
        lines += ["Generators, on images of their own (Fisher's exact test, log-rank test, corrected together):", ""]
        lines += [f"- {rivalry.sentence}" for rivalry in unpaired] + [""]
    return "\n".join(lines if paired or unpaired else [*lines, "No two cells can be compared yet.", ""])
