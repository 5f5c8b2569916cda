"""A table as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re

from foible.benchmark.tables import Mean, Table, Value
from foible.metrics import Rate
from foible.report.wording import UNKNOWN, count, decimal, interval, percent

LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}", "–": "--"}
LATEX |= {"{": r"\{", "}": r"\}", "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", ">": "$>$", "<": "$<$"}


def text(value: Value) -> str:
    """A value as people read it: "45 of 97, 46.4 % (36.8–56.3 %)"."""
    figure, about = apart(value)
    return f"{figure} {about}" if about else figure


def apart(value: Value) -> tuple[str, str]:
    """A value, and how sure it is: "45 of 97, 46.4 %" and "(36.8–56.3 %)"; nothing where that is not known."""
    if value is None:
        return UNKNOWN, ""
    if isinstance(value, Rate):
        known = f"{value.count:,} of {value.total:,}"
        return (f"{known}, {percent(value.share)}", f"({interval(value)})") if value.total else (known, "")
    if isinstance(value, Mean):
        return count(value.value), f"({count(value.low)}–{count(value.high)})" if value.low is not None else ""
    if isinstance(value, str):
        return value, ""
    return f"{value:,}" if isinstance(value, int) else decimal(value) if abs(value) < 1 else count(value), ""


def markdown(table: Table) -> str:
    """A Markdown section with the table."""
    lines = [f"## {table.title}", "", _pipe(table.headings), _pipe(["---"] * len(table.headings))]
    lines += [_pipe([text(v) for v in row]) for row in table.rows]
    return "\n".join([*lines, "", table.note, ""])


def latex(table: Table) -> str:
    """A LaTeX tabular in a table environment; needs no package."""
    rows = [" & ".join(_tex(text(v)) for v in row) + r" \\" for row in table.rows]
    head = " & ".join(map(_tex, table.headings)) + r" \\"
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_tex(table.title)}. {_tex(table.note)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.headings) - 1)}}}",
            r"\hline",
            head,
            r"\hline",
            *rows,
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def as_csv(table: Table) -> str:
    """Comma-separated values in which counts, shares and intervals have columns of their own."""
    kinds = [_kind([row[k] for row in table.rows]) for k in range(len(table.headings))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [f"{h} {part}".strip() for h, kind in zip(table.headings, kinds, strict=True) for part in PARTS[kind]]
    )
    for row in table.rows:
        writer.writerow([v for value, kind in zip(row, kinds, strict=True) for v in _spread(value, kind)])
    return out.getvalue()


PARTS = {
    "rate": ("count", "total", "share", "low", "high"),
    "mean": ("mean", "low", "high"),
    "plain": ("",),
}


def _kind(column: list[Value]) -> str:
    if any(isinstance(v, Rate) for v in column):
        return "rate"
    return "mean" if any(isinstance(v, Mean) for v in column) else "plain"


def _spread(value: Value, kind: str) -> list[object]:
    if isinstance(value, Rate):
        return [value.count, value.total, value.share, value.low, value.high]
    if isinstance(value, Mean):
        return [value.value, value.low, value.high]
    return [value, *[None] * (len(PARTS[kind]) - 1)]


def _pipe(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _tex(words: str) -> str:
    return re.sub(r"[&%_#$~–{}\\^<>]", lambda found: LATEX[found.group()], words)
