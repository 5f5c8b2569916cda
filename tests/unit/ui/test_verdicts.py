"""What validators said, in words, and how it decides what a filter shows."""

import json
import sqlite3

import pytest

from foible.records import Verdict
from foible.store import open_run
from foible.store.selection import decided
from foible.ui.verdicts import reasons

SAID = (
    Verdict("ssim", True, 0.35, "image", 0.3),
    Verdict("ensemble", True, 0.9, "label"),
    Verdict("judge", True, 0.75, "image", 0.7),
)


def test_all_validators_must_accept_and_the_judge_speaks_first():
    assert decided(SAID, "image") is True
    assert decided((*SAID, Verdict("features", False, 0.0, "image", 0.01)), "image") is False
    assert decided(SAID, "label") is True
    assert decided((), "image") is None
    assert [r.text for r in reasons(SAID, "image", "seven")] == [
        "judge: an image of the domain (0.75, at or above the threshold 0.70)",
        "ssim: an image of the domain (0.35, at or above the threshold 0.30)",
    ]
    assert reasons(SAID, "label", "seven")[0].text == (
        "ensemble: still shows seven (0.90, at or above the threshold 0.50)"
    )


@pytest.fixture
def judged(runs):
    """The toy run with verdicts on its first two findings; the second one's are of an older store, without threshold."""
    first, second, *_ = [line.attempt for line in open_run(runs / "toy").index()]
    old = [{"validator": "judge", "accepted": False, "score": 0.1, "about": about} for about in ("image", "label")]
    with sqlite3.connect(runs / "toy" / "run.sqlite") as database:
        for attempt, said in ((first, [vars(v) for v in SAID]), (second, old)):
            database.execute("UPDATE findings SET verdicts = ? WHERE attempt = ?", (json.dumps(said), attempt))
    return first, second


def test_a_page_says_who_judged_what_and_why(visit, judged):
    first, second = (visit().get(f"/runs/toy/findings/{attempt}").text for attempt in judged)
    assert 'Is it an image of the domain? <b class="yes">yes</b>' in first
    assert "ssim: an image of the domain (0.35, at or above the threshold 0.30)" in first
    assert '<b class="no">no</b>' in second and "does not show" in second and "the threshold 0.50" in second
    assert "Nobody has looked at it yet" in first


def test_what_nobody_judged_is_said_to_be_unknown(visit, runs):
    attempt = open_run(runs / "toy").index()[0].attempt
    page = visit().get(f"/runs/toy/findings/{attempt}").text
    assert page.count("not judged</b>") == 2 and "No validator was asked and nobody has looked at it yet" in page


def test_filters_go_by_the_verdicts(visit, judged, runs):
    first, second = judged
    total = len(open_run(runs / "toy").index())

    def shown(query):
        page = visit().get(f"/runs/toy/findings?{query}").text
        return {line.attempt for line in open_run(runs / "toy").index() if f'data-finding="{line.attempt}"' in page}

    assert shown("valid=yes") == shown("kept=yes") == {first}
    assert shown("valid=no") == shown("kept=no") == {second}
    assert len(shown("valid=unknown")) == total - 2
