"""A comparison in a terminal or a pipe: the sides, a sentence per test, and what to know before believing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foible.metrics import Rate
from foible.report.comparison import Comparison
from foible.report.wording import interval, of, percent, plural

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 200  # columns of a pipe: whoever reads it may cut lines, but cannot join cells
NAMES = {"holm": "Holm", "benjamini-hochberg": "Benjamini and Hochberg"}


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print a comparison; user text goes in as `Text`, so that brackets in it are no markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = console or Console()
    if not console.is_terminal:
        console.width = max(console.width, WIDE)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for heading in ("side", "search", "classifier", "seeds", "confirmed failures", "that count"):
        table.add_column(heading)
    for side in comparison.sides:
        seeds = ", ".join(map(str, side.seeds))
        cells = (side.name, side.search, side.classifier, seeds, _share(side.confirmed), _share(side.counts))
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    console.print()
    for sentence in comparison.sentences:
        console.print(Text(sentence), soft_wrap=True)
    console.print()
    console.print(
        f"Failures: exact McNemar test on shared starting images. Evaluations: paired log-rank test. Corrected "
        f"({NAMES[comparison.correction]}) over {plural(comparison.tests, 'test')}.",
        soft_wrap=True,
        highlight=False,
    )
    for note in comparison.notes:
        console.print(Text(note), soft_wrap=True)


def _share(rate: Rate | None) -> str:
    return f"{of(rate)}, {percent(rate.share)} ({interval(rate)})" if rate else "not judged"
