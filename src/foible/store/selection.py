"""Which findings are meant: by class pair, cost, and what validators and people say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foible.records import About, Finding, Key, Verdict, everyone_accepts
from foible.store.answers import Answers
from foible.store.reader import FindingLine

WORDS = {True: "yes", False: "no", None: "unknown"}
NOBODY = Answers({})


@dataclass(frozen=True)
class Wanted:
    """What a finding must be like; what is left out may be anything."""

    label: int | None = None
    predicted: int | None = None
    least: int | None = None  # evaluations
    most: int | None = None
    valid: str = ""  # "yes", "no", "unknown"
    kept: str = ""
    counts: str = ""  # "yes", "no"
    keys: tuple[Key, ...] = ()  # these alone; none named: any


EVERYTHING, COUNTING = Wanted(), Wanted(counts="yes")


def passes(line: FindingLine | Finding, wanted: Wanted, answers: Answers) -> bool:
    """Whether a finding is one of those that are wanted."""
    return (
        wanted.label in {None, line.label}
        and wanted.predicted in {None, line.predicted}
        and (wanted.least is None or line.evaluations >= wanted.least)
        and (wanted.most is None or line.evaluations <= wanted.most)
        and wanted.valid in {"", WORDS[is_valid(line, answers)]}
        and wanted.kept in {"", WORDS[is_kept(line, answers)]}
        and wanted.counts in {"", WORDS[counts(line, answers)]}
        and (not wanted.keys or line.key in wanted.keys)
    )


def counts(line: FindingLine | Finding, answers: Answers) -> bool:
    """Whether a failure counts: nobody says that it is no image of the domain, has lost its label, or is undone by chance.

    People's word stands over that of validators. Where nobody was asked, every failure counts.
    """
    said = (is_valid(line, answers), is_kept(line, answers), decided(line.verdicts, "steadiness"))
    return all(word is not False for word in said)


def is_judged(line: FindingLine | Finding, answers: Answers) -> bool:
    """Whether anybody was asked if the image is of the domain or keeps its label."""
    return is_valid(line, answers) is not None or is_kept(line, answers) is not None


def is_valid(line: FindingLine | Finding, answers: Answers) -> bool | None:
    """Whether the image is of the domain, as people say or else as validators say; None when nobody was asked."""
    people = answers.valid(line.key)
    return people if people is not None else decided(line.verdicts, "image")


def is_kept(line: FindingLine | Finding, answers: Answers) -> bool | None:
    """Whether it still shows the expected class; None when nobody was asked."""
    people = answers.kept(line.key, line.label)
    return people if people is not None else decided(line.verdicts, "label")


def decided(verdicts: Sequence[Verdict], about: About) -> bool | None:
    """The validators' answer about the image, the label or the steadiness; None when none was asked."""
    return everyone_accepts(verdicts, about) if any(v.about == about for v in verdicts) else None
