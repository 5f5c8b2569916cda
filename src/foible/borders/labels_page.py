"""The label alarm for the terminal, for other programs, as a table of images and as a page."""

from __future__ import annotations

import base64
import csv
import html
import json
import math
from pathlib import Path
from typing import Any

import torch

from foible.borders.alarm import LEVEL, Suspicion
from foible.borders.labels import Candidate, LabelAlarm
from foible.domains import RealImages
from foible.files import write_whole
from foible.images import png_bytes

SHOWN = 10  # pairs in the terminal
HEAD = ("file", "position", "label", "suggested", "log_odds_of_label")


def as_text(alarm: LabelAlarm) -> str:
    """The verdict, the most suspicious pairs, and where candidates are."""
    lines = [_verdict(alarm), "", _head(alarm)]
    lines += [_line(alarm, s) for s in alarm.suspicions[:SHOWN]]
    if alarm.candidates:
        count = sum(map(len, alarm.candidates.values()))
        lines += ["", f"{count} images to look at first: candidates.csv"]
    return "\n".join(lines)


def _verdict(alarm: LabelAlarm) -> str:
    pairs = len(alarm.suspicions)
    if not alarm.alarms:
        return f"no alarm: none of {pairs} pairs of classes stands out (Holm, {LEVEL:g} over all pairs)"
    named = ", ".join(_name(alarm, s) for s in alarm.alarms)
    return f"alarm: the labels of {named} may be mixed up ({len(alarm.alarms)} of {pairs} pairs, Holm, {LEVEL:g})"


def _head(alarm: LabelAlarm) -> str:
    than = f"escapes of {alarm.twin}" if alarm.twin else "depth expected by the other pairs"
    return f"pair: escapes (95 % interval), depth in log-odds, {than}, p, corrected p"


def _line(alarm: LabelAlarm, s: Suspicion) -> str:
    low, high = (100 * (x or 0.0) for x in (s.escaped.low, s.escaped.high))
    expected = f"{100 * s.expected:.0f} %" if alarm.twin else f"{s.expected:.1f}"
    mark = "  <- alarm" if s.alarm else ""
    return (
        f"{_name(alarm, s)}: {s.escaped.count} of {s.escaped.total} ({low:.0f} to {high:.0f} %), {s.depth:.1f}, "
        f"{expected}, {s.p:.2g}, {s.corrected:.2g}{mark}"
    )


def _name(alarm: LabelAlarm, s: Suspicion) -> str:
    return f"{alarm.classes[s.pair[0]]} and {alarm.classes[s.pair[1]]}"


def as_facts(alarm: LabelAlarm) -> dict[str, Any]:
    """The same as plain values."""
    rows = [
        {
            "pair": [alarm.classes[c] for c in s.pair],
            "escaped": s.escaped.count,
            "origins": s.escaped.total,
            "depth": None if math.isnan(s.depth) else s.depth,
            "expected": s.expected,
            "p": s.p,
            "corrected_p": s.corrected,
            "alarm": s.alarm,
        }
        for s in alarm.suspicions
    ]
    candidates = [_row(alarm, c) for some in alarm.candidates.values() for c in some]
    facts = {"model": alarm.model, "twin": alarm.twin, "data": alarm.source, "images": alarm.images}
    return {**facts, "complete": alarm.complete, "pairs": rows, "candidates": candidates}


def _row(alarm: LabelAlarm, c: Candidate) -> dict[str, Any]:
    values = (c.file, c.position, alarm.classes[c.label], alarm.classes[c.other], c.odds)
    return dict(zip(HEAD, values, strict=True))


def write(alarm: LabelAlarm, data: RealImages, folder: Path) -> Path:
    """Write facts, the table of candidates and a page with their pictures into a folder; gives the page."""
    write_whole(folder / "labels.json", json.dumps(as_facts(alarm), indent=1) + "\n")
    with (folder / "candidates.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, HEAD)
        writer.writeheader()
        writer.writerows(_row(alarm, c) for some in alarm.candidates.values() for c in some)
    write_whole(folder / "labels.html", as_page(alarm, data))
    return folder / "labels.html"


def as_page(alarm: LabelAlarm, data: RealImages) -> str:
    """One HTML file: the verdict, every pair, and the pictures of the candidates."""
    title = f"Labels by which {html.escape(alarm.model)} was trained"
    rows = "".join(f"<li>{html.escape(_line(alarm, s))}</li>" for s in alarm.suspicions)
    parts = []
    for (a, b), some in alarm.candidates.items():
        heading = html.escape(f"{alarm.classes[a]} and {alarm.classes[b]}: images to look at first")
        parts.append(f"<h2>{heading}</h2><p>{''.join(_figure(alarm, c, data) for c in some)}</p>")
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{title}</title><style>body{{font:14px system-ui;"
        "margin:2em}figure{display:inline-block;margin:4px;text-align:center}img{width:56px;image-rendering:pixelated}"
        f"figcaption{{font-size:12px}}</style><h1>{title}</h1><p>{html.escape(_verdict(alarm))}. "
        f"{alarm.images:,} images of {html.escape(alarm.source)}.</p>{''.join(parts)}"
        f"<h2>All pairs</h2><p>{html.escape(_head(alarm))}</p><ol>{rows}</ol></html>\n"
    )


def _figure(alarm: LabelAlarm, c: Candidate, data: RealImages) -> str:
    content = base64.b64encode(png_bytes(data.images(torch.tensor([c.position]))[0])).decode()
    words = html.escape(f"{alarm.classes[c.label]}, or {alarm.classes[c.other]}?", quote=True)
    where = html.escape(c.file or f"#{c.position}", quote=True)
    return (
        f"<figure><img alt='{words}' title='{where}' src='data:image/png;base64,{content}'>"
        f"<figcaption>{words}</figcaption></figure>"
    )
