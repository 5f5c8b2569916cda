"""The summary in a terminal: colours and bars on a screen, plain lines in a pipe."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from foible.metrics import Paired, Rate
from foible.plain import plain
from foible.report.funnel import Stage
from foible.report.summary import Summary
from foible.report.wording import (
    UNKNOWN,
    count,
    decimal,
    interval,
    of,
    p_value,
    per_failure,
    percent,
    plural,
    state_text,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

BAR = 20  # characters of a full bar
WIDE = 105  # columns of a terminal that has room for bars
ACCENT = "dark_orange3"
TOP = 4  # confusions named


def print_summary(summary: Summary, console: Console | None = None, page: Path | None = None) -> None:
    """Print the summary; in a pipe or a file it comes without colours and bars.

    Args:
        summary: what to print.
        console: where to; standard output by default.
        page: the HTML report, if there is one to point to.
    """
    from rich.console import Console

    console = console or Console()
    if console.is_terminal:
        for part in _parts(summary, page, fancy=True, bars=console.width >= WIDE):
            console.print(part, highlight=False)
    else:
        console.file.write(plain_summary(summary, page))


def plain_summary(summary: Summary, page: Path | None = None) -> str:
    """The summary as plain text of at most 110 columns."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=110, no_color=True, force_terminal=False, emoji=False)
    for part in _parts(summary, page, fancy=False):
        console.print(part, highlight=False)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _parts(summary: Summary, page: Path | None, fancy: bool, bars: bool = False) -> list[RenderableType]:
    """The summary from top to bottom. User text goes in as `Text`, so that brackets in it are no markup."""
    from rich.text import Text

    facts, state = summary.facts, summary.facts.state
    styles = {"complete": "green", "running": "yellow"} if fancy else {}
    title = Text.assemble(
        (plain(facts.title), "bold"), "  ", (plain(state), styles.get(state, "red" if fancy else "")), overflow="fold"
    )
    about = (
        f"{facts.classifier} on {facts.domain}, images from {facts.generator}, {facts.search} search with up to "
        f"{facts.budget_evaluations:,} evaluations per starting image, seed {facts.seed}"
    )
    parts: list[RenderableType] = ["", title, Text(plain(about), style="dim" if fancy else "")]
    if state != "complete":
        parts.append(Text(plain(state_text(state, facts.quoted_folder)), style="yellow" if fancy else ""))
    if lead := _lead(summary):
        parts += ["", Text(plain(lead), style="bold" if fancy else "")]
    parts += ["", _funnel_table(summary, fancy, bars), "", *(Text(plain(line)) for line in _cost_lines(summary)), ""]
    parts += [Text(plain(line)) for line in _confusion_lines(summary)]
    if summary.known_error:
        parts += [Text(plain(summary.known_error), style="dim" if fancy else "")]
    if page is not None:
        parts += [Text.assemble("report       ", (plain(str(page)), "bold"))]
    return parts


def _lead(summary: Summary) -> str:
    """How many failures count, before anything else; nothing where they were not judged."""
    counts = summary.search.stage("counts")
    if counts is None:
        return ""
    return f"{of(counts)} confirmed failures count ({percent(counts.share)}, 95 % interval {interval(counts)})"


def _funnel_table(summary: Summary, fancy: bool, bars: bool) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if fancy else None, pad_edge=False, padding=(0, 1 if fancy else 2, 0, 0))
    table.add_column("stage", no_wrap=True)
    for heading in ("count", "share", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("of", no_wrap=True)
    if bars:
        table.add_column("", no_wrap=True)
    rival = summary.comparison if summary.comparison and summary.comparison.shared else None
    attempts = f"{summary.search.attempts:,}"
    planned = f"of {summary.facts.attempts_planned:,} planned"
    table.add_row("attempts ended", attempts, "", "", planned)
    for stage in summary.search.funnel:
        style = ACCENT if stage.name == summary.key_stage and fancy else ""
        table.add_row(*_stage_cells(stage), *([Text(_bar(stage), style=ACCENT)] if bars else []), style=style)
    if rival is not None:
        table.add_section() if fancy else table.add_row()
        counted = summary.counting.comparison if summary.counting else None
        for both, note in ((rival, ""), (counted, ", that count")):
            for name, rate in _sides(summary, both):
                cells = (
                    f"{rate.count:,}",
                    percent(rate.share),
                    interval(rate),
                    f"of {plural(rate.total, 'same starting image')}",
                )
                table.add_row(Text(plain(name + note)), *cells)
    return table


def _sides(summary: Summary, both: Paired | None) -> list[tuple[str, Rate]]:
    """Search and baseline with their rates on the same origins; none where they were not compared."""
    if both is None:
        return []
    return [(summary.facts.search, both.search), (f"{summary.facts.baseline} (baseline)", both.baseline)]


def _stage_cells(stage: Stage) -> tuple[str, str, str, str, str]:
    if stage.rate is None:
        return stage.title.lower(), "not judged", "", "", ""
    rate = stage.rate
    return stage.title.lower(), f"{rate.count:,}", percent(rate.share), interval(rate), f"of {rate.total:,} {stage.of}"


def _bar(stage: Stage) -> str:
    return "█" * round(BAR * (stage.rate.share or 0.0)) if stage.rate else ""


def _cost_lines(summary: Summary) -> list[str]:
    arm, rival = summary.search, summary.comparison
    found = arm.evaluations_to_failure
    lines = [
        f"evaluations  {count(arm.evaluations_per_failure)} {per_failure(summary.facts.recipe)}, unsolved ones included; "
        f"median {count(found.median)} where solved (quartiles {count(found.lower)}–{count(found.upper)})",
        f"rounds       {count(arm.rounds.mean)} on average, unsolved ones included",
        f"distance     {decimal(arm.latent_distance.median)} in the latent space, "
        f"{decimal(arm.pixel_distance.median)} in pixels (medians)",
    ]
    if rival is not None and rival.shared:
        lines.append(
            f"comparison   {summary.facts.search} alone found {rival.search_only:,}, {summary.facts.baseline} alone "
            f"{rival.baseline_only:,} of the same {plural(rival.shared, 'starting image')} ({p_value(rival.p_value)}, exact McNemar)"
        )
    return lines if found.count else lines[1:2] if arm.rounds.count else []


def _confusion_lines(summary: Summary) -> list[str]:
    if not summary.confusions:
        return [
            f"no failures yet; {of(summary.search.stage('confirmed'))} accepted starting images".replace(UNKNOWN, "0")
        ]
    names = summary.facts.classes
    top = [f"{names[p.label]} taken for {names[p.predicted]} ({p.count:,})" for p in summary.confusions[:TOP]]
    more = len(summary.confusions) - TOP
    return ["confusions   " + ", ".join(top) + (f" and {plural(more, 'other pair')}" if more > 0 else "")]
