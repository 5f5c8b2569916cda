"""Reports of tiny runs written by hand: ten attempts, four classes, no networks."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from rich.console import Console

from foible.errors import RecipeError
from foible.metrics import ClassPair
from foible.records import Finding, Key, Outcome, Verdict
from foible.report import (
    Summary,
    check_gate,
    junit_xml,
    plain_summary,
    print_summary,
    render_page,
    summarise,
    to_json,
    write_page,
)
from foible.report.curve import chart
from foible.report.gallery import choose, difference
from foible.report.page import confusion_matrix
from foible.report.wording import count, percent, short_name
from foible.store import Run, RunWriter, open_run
from foible.store.answers import NOTHING, Answer, add_answers
from foible.store.manifest import Manifest
from foible.types import Arm, Status
from tests.by_hand import by_tested, record, save_image

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "[bold]{{ 7*7 }}", "a & b \x07")
PLAIN = ("cat", "dog", "frog", "ship")
F, H, L, R = Status.FOUND, Status.HELD, Status.LOST, Status.REJECTED
SEARCH = (F, F, H, R, F, L, F, F, H, F)
BASELINE = (F, H, H, R)


def manifest(classes: tuple[str, ...]) -> Manifest:
    part = {name: {"use": name} for name in ("generator", "objective", "oracle")}
    recipe: dict[str, Any] = {"name": "tiny", "title": "A <tiny> run", "domain": "pets", "data": None, "seed": 5}
    recipe |= {"attempts": 10, "classifier": {"use": "models/net.safetensors"}, "search": {"use": "genetic"}, **part}
    recipe |= {"budget": {"evaluations": 100, "seconds": None}, "baseline": {"use": "random", "attempts": 4}}
    return Manifest(
        recipe={**recipe, "validators": []},
        digests={"net.safetensors": "ab" * 32},
        data="pets, 8 images",
        classes=classes,
        shape=(1, 4, 4),
        chunk=8,
        packing="full",
        device="cpu",
        threads=1,
        versions={"foible": "0"},
        created="2026-01-01T00:00:00+00:00",
    )


def outcome(arm: Arm, attempt: int, status: Status) -> Outcome:
    spent = {F: 10 * (attempt + 1), H: 100, L: 50, R: 0}[status]
    return Outcome(
        arm, attempt, attempt % 4, "pets", status, attempt % 4, spent, spent // 10, findings=int(status is F)
    )


def finding(writer: RunWriter, arm: Arm, attempt: int) -> Finding:
    label, predicted = attempt % 4, (attempt + 1) % 4
    paths = {}
    for kind, brightness in (("origin", 0.2), ("failure", 0.6)):
        paths[kind] = save_image(writer, f"{arm}-{attempt}-{kind}.png", torch.full((1, 4, 4), brightness))
    likely = tuple(0.7 if k == predicted else 0.1 for k in range(4))
    return Finding(
        arm,
        attempt,
        label,
        predicted,
        10 * (attempt + 1),
        attempt + 1,
        by_tested(*(0.97 if k == label else 0.01 for k in range(4))),
        by_tested(*likely),
        1.5,
        1.6,
        torch.ones(2),
        torch.zeros(2),
        paths["failure"][0].relative_to(writer.layout.folder).as_posix(),
        paths["origin"][0].relative_to(writer.layout.folder).as_posix(),
        paths["failure"][1],
        paths["origin"][1],
    )


Maker = Callable[..., Run]


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    def build(
        search: tuple[Status, ...] = SEARCH,
        baseline: tuple[Status, ...] = BASELINE,
        classes: tuple[str, ...] = PLAIN,
        state: str = "complete",
        verdicts: tuple[Verdict, ...] = (),
    ) -> Run:
        with RunWriter(tmp_path / "run", manifest(classes)) as writer:
            for arm, statuses in ((Arm.SEARCH, search), (Arm.BASELINE, baseline)):
                found = [finding(writer, arm, k) for k, status in enumerate(statuses) if status is F]
                record(
                    writer,
                    [outcome(arm, k, status) for k, status in enumerate(statuses)],
                    [replace(f, verdicts=verdicts) for f in found],
                )
            writer.close_with(state)
        return open_run(tmp_path / "run")

    return build


def test_the_funnel_has_the_right_denominators(make: Maker) -> None:
    summary = summarise(make())
    stages = {s.name: s.rate for s in summary.search.funnel}
    counts = {name: (rate.count, rate.total) for name, rate in stages.items() if rate}
    assert counts == {"accepted": (9, 10), "failures": (7, 9), "confirmed": (6, 9)}
    assert stages["valid"] is stages["label_kept"] is None


def test_costs_count_unsolved_origins(make: Maker) -> None:
    summary = summarise(make())
    solved = [10, 20, 50, 70, 80, 100]
    assert summary.search.evaluations == sum(solved) + 100 + 50 + 100
    assert summary.search.evaluations_per_failure == pytest.approx(580 / 6)
    assert summary.search.evaluations_to_failure.median == 60
    assert summary.search.rounds.mean == pytest.approx(58 / 9)


def test_baseline_is_compared_on_the_same_origins(make: Maker) -> None:
    both = summarise(make()).comparison
    assert both is not None
    assert (both.shared, both.both, both.search_only, both.baseline_only, both.neither) == (3, 1, 1, 0, 1)
    assert both.p_value == 1.0


def test_metrics_have_the_same_names_in_every_run(make: Maker) -> None:
    full = summarise(make()).metrics
    assert full["failure_rate"] == pytest.approx(6 / 9)
    assert full["baseline_failure_rate"] == pytest.approx(1 / 3)
    assert full["valid"] is None
    assert full["attempts"] == 10


def test_metrics_without_any_outcome_are_unknown(make: Maker) -> None:
    empty = summarise(make(search=(), baseline=(), state="running"))
    assert empty.metrics["failure_rate"] is None
    assert empty.metrics["baseline_failure_rate"] is None
    assert empty.metrics["attempts"] == 0
    assert empty.baseline is None


def test_verdicts_count_when_given(make: Maker) -> None:
    summary = summarise(make(verdicts=(Verdict("ensemble", False, 0.2),)))
    valid = summary.search.stage("valid")
    assert valid is not None
    assert (valid.count, valid.total) == (0, 6)
    assert summary.search.stage("label_kept") is None


def test_people_stand_beside_the_verdicts(make: Maker) -> None:
    run = make(verdicts=(Verdict("ensemble", True, 0.9),))
    said = {0: 0, 1: 2, 4: NOTHING, 6: NOTHING}  # finding k expects class k % 4
    add_answers(run.layout, [Answer(Key(attempt), "Ada", see, "2026-01-01") for attempt, see in said.items()])
    add_answers(run.layout, [Answer(Key(6), "Ben", 2, "2026-01-01")])
    summary = summarise(run)
    stages = {s.name: s for s in summary.search.funnel}
    assert stages["valid_by_people"].title == "Valid, by people (4 asked)"
    valid, kept = stages["valid_by_people"].rate, stages["label_kept_by_people"].rate
    assert valid and kept
    assert (valid.count, valid.total, kept.count, kept.total) == (2, 3, 1, 3), "finding 6 is undecided"
    assert summary.metrics["valid_by_people_rate"] == pytest.approx(2 / 3)
    assert summary.metrics["valid"] == 6
    assert re.search(r"valid, by people \(4 asked\) +2 +66\.7 %", plain_summary(summary))
    assert "Valid, label kept, by people (4 asked)" in render_page(run)
    assert Summary.model_validate_json(to_json(summary)) == summary


def test_json_reads_back(make: Maker) -> None:
    summary = summarise(make())
    assert Summary.model_validate_json(to_json(summary)) == summary


def test_per_class_rows(make: Maker) -> None:
    rows = {row.name: row for row in summarise(make()).classes}
    assert (rows["ship"].attempts, rows["ship"].accepted, rows["ship"].confirmed.count) == (2, 1, 1)
    assert rows["cat"].median_evaluations == 30  # found at 10 and at 50; held once


def test_plain_text_says_what_was_not_judged(make: Maker) -> None:
    text = plain_summary(summarise(make(classes=HOSTILE)), Path("out/report.html"))
    assert re.search(r"confirmed failures +6 +66\.7 % +35\.4–87\.9 % +of 9 accepted starting images", text)
    assert text.count("not judged") == 4, "steady, valid, label kept, counts"
    assert "[bold]{{ 7*7 }} taken for a & b" in text
    assert "out/report.html" in text
    assert "\x1b" not in text


def test_a_screen_gets_colours_and_a_pipe_does_not(make: Maker) -> None:
    summary = summarise(make(state="interrupted"))
    screen, pipe = io.StringIO(), io.StringIO()
    print_summary(summary, Console(file=screen, force_terminal=True, width=120, color_system="standard"))
    print_summary(summary, Console(file=pipe, force_terminal=False))
    assert "\x1b[" in screen.getvalue()
    assert "█" in screen.getvalue()
    assert "\x1b[" not in pipe.getvalue()
    assert "foible resume" in pipe.getvalue()


def test_the_page_escapes_everything_users_name(make: Maker) -> None:
    page = render_page(make(classes=HOSTILE))
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "A &lt;tiny&gt; run" in page
    assert "{{ 7*7 }}" in page  # shown, not run


def test_the_page_needs_no_network(make: Maker) -> None:
    page = render_page(make())
    assert "http://" not in page
    assert "https://" not in page
    assert set(re.findall(r'(?:src|href)="(.{5})', page)) <= {"data:", "#pair"}
    assert not re.search(r"url\(|@import|<link", page)


def test_the_page_shows_every_finding_with_its_replay_command(make: Maker, tmp_path: Path) -> None:
    run = make()
    path = write_page(run)
    page = path.read_text(encoding="utf-8")
    assert path == tmp_path / "run" / "report.html"
    assert page.count("<article") == 6
    assert f"foible replay {tmp_path / 'run'} 4" in page
    assert page.count("not judged") >= 2
    assert "All 6 confirmed failures" in page


def test_a_damaged_and_a_missing_image_are_named(make: Maker, tmp_path: Path) -> None:
    run = make()
    (tmp_path / "run/images/search-0-failure.png").write_bytes(b"no image")
    (tmp_path / "run/images/search-1-origin.png").unlink()
    page = render_page(run)
    assert "2 pictures could not be shown as found" in page
    assert "search-0-failure.png" in page
    assert "search-1-origin.png" in page
    assert page.count("<article") == 6


def test_an_exchanged_image_is_noticed(make: Maker, tmp_path: Path) -> None:
    run = make()
    images = tmp_path / "run/images"
    (images / "search-0-failure.png").write_bytes((images / "search-0-origin.png").read_bytes())
    assert "search-0-failure.png&#39; has changed since it was stored" in render_page(run)


@pytest.mark.parametrize("state", ["running", "out of time", "interrupted", "failed"])
def test_an_unfinished_run_without_findings_says_what_to_do(make: Maker, state: str) -> None:
    page = render_page(make(search=(H, R), baseline=(), state=state))
    assert "2 of 10 attempts have ended" in page
    assert ("foible report" if state == "running" else "foible resume") in page
    assert "<article" not in page


def test_a_run_that_has_only_begun_can_be_shown(make: Maker) -> None:
    run = make(search=(), baseline=(), state="running")
    assert "No starting image has been searched yet" in render_page(run)
    assert "no failures yet" in plain_summary(summarise(run))


def test_a_capped_gallery_says_so(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foible.report.gallery.MOST", 4)
    page = render_page(make())
    assert page.count("<article") == 4
    assert "Showing 4 of 6" in page


def test_the_choice_is_spread_over_class_pairs() -> None:
    pairs = [(0, 1, 2), (1, 1, 2), (2, 1, 2), (3, 4, 5), (4, 6, 7)]
    assert [attempt for attempt, *_ in choose(pairs, 4)] == [0, 3, 4, 1]
    assert choose([], 4) == []


def test_the_difference_is_red_where_brighter_and_blue_where_darker() -> None:
    origin = torch.tensor([[[0.5, 0.5, 0.5]]])
    failure = torch.tensor([[[1.0, 0.5, 0.25]]])
    brighter, same, darker = difference(origin, failure)[0]
    assert brighter[0] > brighter[2] and brighter[3] == 255
    assert same[3] == 0
    assert darker[2] > darker[0] and darker[3] == 128
    assert difference(origin, origin).dtype == np.uint8


def test_the_matrix_holds_only_classes_that_occur() -> None:
    matrix = confusion_matrix((ClassPair(4, 9, 4), ClassPair(7, 9, 2), ClassPair(7, 1, 1)))
    assert matrix is not None
    assert matrix.columns == (1, 9)
    cells = {(c.label, c.predicted): (c.count, c.heat) for _, row in matrix.rows for c in row}
    assert cells == {(4, 1): (0, 0), (4, 9): (4, 1), (7, 1): (1, 0.25), (7, 9): (2, 0.5)}
    assert confusion_matrix(()) is None
    assert confusion_matrix(tuple(ClassPair(k, k + 1, 1) for k in range(100))) is None


def test_the_curve_counts_all_accepted_origins() -> None:
    outcomes = [outcome(Arm.SEARCH, k, s) for k, s in enumerate((F, H, R))]
    drawn = chart([("genetic", outcomes)], 100)
    assert drawn.curves[0].points == "0,100 10.00,100.00 10.00,50.00 100,50.00"
    assert [t.text for t in drawn.ticks] == ["0", "20", "40", "60", "80", "100"]


def test_junit_has_a_case_per_attempt(make: Maker) -> None:
    suite = ElementTree.fromstring(junit_xml(make(classes=HOSTILE)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("10", "6", "1")
    messages = [f.get("message", "") for f in suite.iter("failure")]
    assert messages[0].startswith('<script>alert(1)</script> taken for "><img')
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["confirmed"] == "6"
    assert properties["valid"] == ""


@pytest.mark.parametrize(
    ("condition", "passed"),
    [
        ("failure_rate > 0.05", False),
        ("failure_rate > 50%", True),
        ("failure_rate>=.5", False),
        ("failure_rate < 5e-1", True),
        ("confirmed == 3", False),
        ("confirmed != 3", True),
        ("confirmed <= 2", True),
    ],
)
def test_a_gate_fails_when_its_condition_holds(condition: str, passed: bool) -> None:
    gate = check_gate(condition, {"failure_rate": 0.5, "confirmed": 3})
    assert gate.passed is passed
    assert ("passed" if passed else "failed") in gate.text


def test_one_tripped_condition_is_enough() -> None:
    gate = check_gate(["confirmed > 5", "failure_rate > 0.1"], {"failure_rate": 0.5, "confirmed": 3})
    assert not gate.passed
    assert len(gate.lines) == 2
    assert check_gate([], {}).passed


def test_an_unknown_number_fails_the_gate() -> None:
    gate = check_gate("valid_rate < 0.5", {"valid_rate": None})
    assert not gate.passed
    assert "unknown" in gate.text


def test_an_unknown_metric_is_named_with_its_neighbour() -> None:
    with pytest.raises(RecipeError, match="failure_rte") as caught:
        check_gate("failure_rte > 0.1", {"failure_rate": 0.5})
    assert "did you mean 'failure_rate'" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["", "failure_rate", "failure_rate > ", "a > 1 and b > 2", "__import__('os') > 1", "a > nan"]
)
def test_a_gate_that_cannot_be_read_shows_an_example(text: str) -> None:
    with pytest.raises(RecipeError) as caught:
        check_gate(text, {"a": 1.0})
    assert "failure_rate > 0.05" in caught.value.hint


def test_words_for_numbers() -> None:
    assert [percent(x) for x in (0, 0.0001, 0.5, 0.9999, 1, None)] == [
        "0 %",
        "0.1 %",
        "50.0 %",
        "99.9 %",
        "100 %",
        "n/a",
    ]
    assert [count(x) for x in (1234, 12.5, 1234.5, None)] == ["1,234", "12.5", "1,234", "n/a"]
    assert [short_name(x) for x in ("a/b/net.safetensors", "genetic", "C:\\m\\n.pt")] == ["net", "genetic", "n.pt"]
