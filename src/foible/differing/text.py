"""A difference in a terminal."""

from __future__ import annotations

from string import ascii_uppercase

from foible.differing.answers import Answers
from foible.differing.corpus import Corpus
from foible.differing.difference import Difference
from foible.differing.measured_text import (
    drift_lines,
    growth_lines,
    selection_lines,
    sieve_lines,
    together_lines,
    variety_lines,
)
from foible.plain import plain

WIDEST = 12  # classes of a matrix that fits a terminal; beyond it the commonest pairs are listed
PAIRS = 10


def difference_text(difference: Difference) -> str:
    """All of it in plain lines."""
    found, figures = difference.found, difference.figures
    spent = figures["evaluations_per_disagreement"]
    lines = [
        *(f"{letter} = {plain(name)}" for letter, name in zip(ascii_uppercase, difference.names, strict=False)),
        "",
        f"search       {found.disagreements} disagreements from {difference.attempts} starting images, "
        f"{difference.evaluations} evaluations" + (f", {spent:.0f} for each" if spent else ""),
        _baseline("random", difference.samples),
        _baseline("real images", difference.real) if difference.real else "real images  none at hand",
    ]
    if found.disagreements:
        lines += ["", *matrix_lines(found, difference.classes), "", *_categories(found, difference.expected_by)]
        lines += ["", *variety_lines(difference.variety), *growth_lines(difference.curves)]
        lines += selection_lines(difference.selection, difference.classes)
    if difference.real is not None and difference.real.disagreements:
        who = difference.real.categories()
        lines.append(
            f"on real images: only A right {who['only_a_right']}, only B right {who['only_b_right']}, "
            f"both wrong {who['both_wrong']}"
        )
        lines += drift_lines(difference.real, difference.classes)
    if difference.sieved:
        lines += ["", *sieve_lines(difference.sieved)]
    if difference.together is not None:
        lines += ["", *together_lines(difference.together)]
    return "\n".join(lines)


def replay_text(corpus: Corpus, now: Answers, figures: dict[str, float | None]) -> str:
    """What became of a corpus."""
    known = int((corpus.expected >= 0).sum())
    made = " and ".join(plain(n) for n in corpus.names)
    return "\n".join(
        [
            f"corpus of {len(corpus)} images on which {made} disagreed; the right answer of {known} is known",
            f"  A and B disagree now on       {figures['corpus_disagreements']}, "
            f"{figures['corpus_accepted']} of them accepted",
            f"  A answers otherwise on        {figures['corpus_changed_a']}",
            f"  B answers otherwise on        {figures['corpus_changed_b']}",
            f"  A is wrong, B is wrong on     {figures['corpus_wrong_a']}, {figures['corpus_wrong_b']} of {known}",
            f"  A right, B wrong on           {figures['corpus_regressions']}",
            f"  largest gap of a probability  {_number(now.largest_gap)}",
        ]
    )


def matrix_lines(answers: Answers, classes: tuple[str, ...]) -> list[str]:
    """How often A said the row and B the column; of many classes the commonest pairs."""
    matrix = answers.matrix(len(classes))
    if len(classes) <= WIDEST:
        width = max(5, *(len(plain(c)[:8]) + 1 for c in classes))
        head = "A \\ B".ljust(9) + "".join(plain(c)[:8].rjust(width) for c in classes)
        rows = [
            plain(c)[:8].ljust(9) + "".join((str(n) if n else ".").rjust(width) for n in row)
            for c, row in zip(classes, matrix.tolist(), strict=True)
        ]
        return [head, *rows]
    order = matrix.flatten().argsort(descending=True, stable=True)[:PAIRS].tolist()
    pairs = [(classes[k // len(classes)], classes[k % len(classes)], int(matrix.flatten()[k])) for k in order]
    return [f"{n:6}  A: {plain(x)}, B: {plain(y)}" for x, y, n in pairs if n]


def _categories(answers: Answers, by: str) -> list[str]:
    who = answers.categories()
    return [
        f"only A right {who['only_a_right']}, only B right {who['only_b_right']}, both wrong {who['both_wrong']}, "
        f"undecided {who['undecided']} (by {by})"
    ]


def _baseline(name: str, answers: Answers) -> str:
    share = f"{answers.disagreements / len(answers):.3%}" if len(answers) else "none"
    gap = _number(answers.largest_gap)
    return f"{name:<12} {answers.disagreements} of {len(answers)} ({share}), largest gap of a probability {gap}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
