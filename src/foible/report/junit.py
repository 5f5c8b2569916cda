"""A run as JUnit XML, which every CI system can show: an origin is a test, a confirmed failure is a failing test."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as XML

from foible.files import disk_errors
from foible.names import Status
from foible.records import Finding, Key, Outcome
from foible.report.summary import Summary, summarise
from foible.report.wording import decimal
from foible.store import Run

MOST = 20  # findings of one origin that are named
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 cannot hold


def junit_xml(run: Run, summary: Summary | None = None) -> str:
    """The run as a JUnit test suite: accepted origins pass or fail, those set apart are skipped.

    The baseline is not a test of the classifier and is left out; its numbers are among the suite's properties.
    """
    summary = summary or summarise(run)
    cases = [_case(run, outcome) for outcome in run.outcomes()]
    suite = XML.Element(
        "testsuite",
        name=_clean(f"foible.{run.name}"),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        errors="0",
        timestamp=run.manifest.created,
    )
    properties = XML.SubElement(suite, "properties")
    about = {"state": summary.facts.state, "classifier": summary.facts.classifier, "seed": summary.facts.seed}
    for name, value in {**about, **summary.metrics}.items():
        XML.SubElement(properties, "property", name=name, value="" if value is None else _clean(str(value)))
    suite.extend(cases)
    XML.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + XML.tostring(suite, encoding="unicode") + "\n"


def write_junit(run: Run, path: Path, summary: Summary | None = None) -> Path:
    """Write the run as a JUnit XML file."""
    with disk_errors(path):
        path.write_text(junit_xml(run, summary), encoding="utf-8")
    return path


def _case(run: Run, outcome: Outcome) -> XML.Element:
    name = run.classes[outcome.label]
    case = XML.Element(
        "testcase", classname=_clean(f"{run.name}.{name}"), name=_clean(f"attempt {outcome.attempt}: {name}")
    )
    if not outcome.accepted:
        said = run.classes[outcome.origin_predicted]
        taken, refused = f"is already taken for {said}", "is not called valid with its label by the validators"
        why = refused if outcome.status is Status.REFUSED else taken
        XML.SubElement(case, "skipped", message=_clean(f"starting image of class {name} {why}"))
    elif outcome.status is Status.FOUND:
        found = [run.finding(Key(outcome.attempt, number)) for number in range(min(outcome.findings, MOST))]
        more = f", and {outcome.findings - 1:,} more" if outcome.findings > 1 else ""
        failure = XML.SubElement(case, "failure", type="misclassified", message=_clean(_sentence(run, found[0]) + more))
        failure.text = _clean("\n".join(f"{f.image}\nfoible replay {run.layout.folder} {f.key}" for f in found))
    elif outcome.status is Status.LOST:
        note = "a failure was seen, but it did not survive rounding to an 8-bit image and a second look"
        XML.SubElement(case, "system-out").text = note
    return case


def _sentence(run: Run, finding: Finding) -> str:
    """ "7 taken for 9 (confidence 0.912) after 340 evaluations, latent distance 1.24"."""
    label, predicted = run.classes[finding.label], run.classes[finding.predicted]
    return (
        f"{label} taken for {predicted} (confidence {decimal(finding.confidence)}) after {finding.evaluations} "
        f"evaluations, latent distance {decimal(finding.latent_distance)}"
    )


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)
