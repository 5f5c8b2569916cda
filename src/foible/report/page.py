"""The report as one HTML file that needs nothing else: no network, no scripts to fetch, pictures inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from foible.borders.parts import parts
from foible.files import write_whole
from foible.metrics import ClassPair
from foible.names import Arm
from foible.records import Outcome
from foible.report import wording
from foible.report.arms import when_found
from foible.report.curve import Chart, chart
from foible.report.gallery import gallery
from foible.report.summary import Summary, summarise
from foible.store import Run
from foible.store.answers import read_answers
from foible.store.selection import counts, is_judged

if TYPE_CHECKING:
    from jinja2 import Environment

WIDEST = 24  # classes on a side up to which the confusions are drawn as a matrix
LISTED = 40  # confusions listed when they are not


@dataclass(frozen=True)
class Cell:
    """One field of the confusion matrix; `heat` in [0, 1] is its share of the largest count."""

    label: int
    predicted: int
    count: int
    heat: float


@dataclass(frozen=True)
class Matrix:
    """Who is taken for whom: rows are expected classes, columns what the classifier said."""

    columns: tuple[int, ...]
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]


def write_page(run: Run, path: Path | None = None, summary: Summary | None = None) -> Path:
    """Write the report page of a run, finished or not; into its folder unless told otherwise.

    Args:
        run: the run.
        path: where to.
        summary: the run's, where it has been made already.
    """
    target = path or run.layout.report
    write_whole(target, render_page(run, summary))
    return target


def render_page(run: Run, summary: Summary | None = None) -> str:
    """The report page as HTML. Everything that comes from users is escaped."""
    import tomli_w

    summary = summary or summarise(run)
    outcomes, lines, answers = list(run.outcomes()), run.index(), read_answers(run.layout)
    ended = {o.attempt for o in outcomes}
    found = [line for line in lines if line.attempt in ended]
    cards = gallery(run, found, answers)
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            summary=summary,
            facts=summary.facts,
            classes=summary.facts.classes,
            confirmed=summary.search.stage("confirmed"),
            counts=summary.search.stage("counts"),
            state_text=wording.state_text(summary.facts.state, summary.facts.quoted_folder),
            chart=_chart(run, summary, when_found(outcomes, lines)),
            matrix=confusion_matrix(summary.confusions),
            listed=summary.confusions[:LISTED],
            borders=parts(run),
            cards=cards,
            verdicts={line.key: counts(line, answers) if is_judged(line, answers) else None for line in found},
            damage=[line for card in cards for line in card.damage],
            shown={(card.label, card.predicted) for card in cards},
            recipe=tomli_w.dumps(without_nothing(summary.facts.recipe)),
        )
    )


@cache
def environment(*folders: Path) -> Environment:
    """Templates of the report and of other rooms that share its look; everything from users is escaped.

    The same one every time: reading a template takes longer than filling it in, and a benchmark writes a page per cell.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    made.globals["words"] = wording
    return made


def confusion_matrix(confusions: tuple[ClassPair, ...]) -> Matrix | None:
    """The confusions as a matrix of the classes that occur; None when there are none or too many."""
    labels, columns = sorted({p.label for p in confusions}), sorted({p.predicted for p in confusions})
    if not confusions or max(len(labels), len(columns)) > WIDEST:
        return None
    counts = {(p.label, p.predicted): p.count for p in confusions}
    most = max(counts.values())
    rows = []
    for label in labels:
        row = [(column, counts.get((label, column), 0)) for column in columns]
        rows.append((label, tuple(Cell(label, column, count, count / most) for column, count in row)))
    return Matrix(tuple(columns), tuple(rows))


def without_nothing(value: object) -> dict[str, object]:
    """A recipe without its unset keys, since TOML has no word for nothing."""

    def clean(part: object) -> object:
        if isinstance(part, dict):
            return {key: clean(inner) for key, inner in part.items() if inner is not None}
        return [clean(inner) for inner in part] if isinstance(part, list | tuple) else part

    cleaned = clean(value)
    return cleaned if isinstance(cleaned, dict) else {}


def _chart(run: Run, summary: Summary, searched: list[Outcome]) -> Chart:
    arms = [(f"{summary.facts.search} search", searched)]
    if summary.baseline is not None:
        outcomes = when_found(list(run.outcomes(Arm.BASELINE)), run.index(Arm.BASELINE))
        arms.append((f"{summary.facts.baseline} search (baseline)", outcomes))
    return chart(arms, summary.facts.budget_evaluations)
