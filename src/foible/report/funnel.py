"""The funnel: from attempts to failures that count, every stage with its denominator and 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from foible.metrics import Rate, rate
from foible.names import Status
from foible.records import Finding, Outcome, everyone_accepts
from foible.store.answers import Answers


class Stage(BaseModel):
    """One step of the funnel: how many of what came this far.

    `rate` is None where nothing was judged: that is not the same as none.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    title: str
    meaning: str
    of: str
    rate: Rate | None

    @property
    def count(self) -> int | None:
        """How many came this far; None when not judged."""
        return self.rate.count if self.rate else None


NOBODY = Answers({})
BY_FAILURE = "; counted by failure, and those of one starting image are alike, so the interval is too narrow"


def funnel(
    outcomes: Sequence[Outcome], findings: Sequence[Finding], answers: Answers = NOBODY, judged: bool = False
) -> tuple[Stage, ...]:
    """The stages of one arm; where people have answered, theirs come last.

    `judged` says whether the validators had a say about origins: that is a step of its own.

    Failures are counted against accepted origins, each once however many failures it led to. Validity is counted
    against the confirmed failures that were judged, all of them, so that a half-judged run does not look worse than it is.
    """
    counts = {status: sum(o.status is status for o in outcomes) for status in Status}
    attempts, found = len(outcomes), counts[Status.FOUND]
    accepted = sum(o.accepted for o in outcomes)
    several = len(findings) > found > 0  # an origin may lead to more than one
    return (
        *_origins(accepted, attempts - counts[Status.REJECTED], attempts, judged),
        Stage(
            name="failures",
            title="Failures seen",
            meaning="the search reached an image that the classifier gets wrong",
            of="accepted starting images",
            rate=rate(found + counts[Status.LOST], accepted),
        ),
        Stage(
            name="confirmed",
            title="Confirmed failures",
            meaning="still wrong after rounding to an 8-bit PNG, reading it back and looking a second time"
            + (f"; a starting image counts once, {len(findings):,} failures in all" if several else ""),
            of="accepted starting images",
            rate=rate(found, accepted),
        ),
        *_judged(findings, BY_FAILURE if several else ""),
        *_by_people(findings, answers),
    )


def _origins(accepted: int, recognised: int, attempts: int, judged: bool) -> tuple[Stage, ...]:
    """Which origins are searched: those that the classifier gets right, and of these those that the validators accept."""
    apart = "; the others are set apart, never searched"
    first = Stage(
        name="recognised" if judged else "accepted",
        title="Recognised starting images" if judged else "Accepted starting images",
        meaning="the classifier gets them right"
        + (apart if judged else f"{apart}; whether they are images of their class was not judged"),
        of="attempts",
        rate=rate(recognised, attempts),
    )
    if not judged:
        return (first,)
    second = Stage(
        name="accepted",
        title="Accepted starting images",
        meaning=f"every validator calls them valid with their label{apart}",
        of="recognised starting images",
        rate=rate(accepted, recognised),
    )
    return first, second


def _judged(findings: Sequence[Finding], note: str) -> tuple[Stage, ...]:
    """What variations and validators make of the failures, each of those that were looked at or judged."""
    steady = [everyone_accepts(f.verdicts, "steadiness") for f in findings if _asked(f, "steadiness")]
    image = [f for f in findings if _asked(f, "image")]
    whole = [f for f in image if _asked(f, "label")]
    return (
        Stage(
            name="steady",
            title="Steady",
            meaning="a shift by a pixel, a slight blur or faint noise does not undo it: it stays under at least half of them"
            + note,
            of="confirmed failures looked at",
            rate=_share(steady),
        ),
        Stage(
            name="valid",
            title="Valid",
            meaning="every validator takes the image for one of the domain" + note,
            of="confirmed failures judged",
            rate=_share([everyone_accepts(f.verdicts, "image") for f in image]),
        ),
        Stage(
            name="label_kept",
            title="Valid, label kept",
            meaning="valid, and every validator says that it still shows the expected class" + note,
            of="confirmed failures judged",
            rate=_share([_valid_and_kept(f) for f in whole]),
        ),
        Stage(
            name="counts",
            title="Counts",
            meaning="steady, valid, and its label is kept" + note,
            of="confirmed failures judged",
            rate=_share([f.counts for f in whole]),
        ),
    )


def _by_people(findings: Sequence[Finding], answers: Answers) -> tuple[Stage, ...]:
    """What the majority of people sees, of the findings where there is one; nothing when nobody was asked."""
    asked = [f for f in findings if answers.votes(f.key)]
    valid = [v for f in asked if (v := answers.valid(f.key)) is not None]
    kept = [k for f in asked if (k := answers.kept(f.key, f.label)) is not None]
    if not asked:
        return ()
    return tuple(
        Stage(
            name=name,
            title=f"{title}, by people ({len(asked):,} asked)",
            meaning=f"{meaning}; {len(asked) - len(decided):,} undecided",
            of="confirmed failures decided",
            rate=rate(sum(decided), len(decided)),
        )
        for name, title, meaning, decided in (
            ("valid_by_people", "Valid", "more people name a class than find the image unrecognisable", valid),
            (
                "label_kept_by_people",
                "Valid, label kept",
                "more people see the expected class than anything else",
                kept,
            ),
        )
    )


def _valid_and_kept(finding: Finding) -> bool:
    return everyone_accepts(finding.verdicts, "image") and everyone_accepts(finding.verdicts, "label")


def _share(passed: Sequence[bool]) -> Rate | None:
    """How many of the findings that were judged pass; None when none was judged."""
    return rate(sum(passed), len(passed)) if passed else None


def _asked(finding: Finding, about: str) -> bool:
    return any(v.about == about for v in finding.verdicts)
