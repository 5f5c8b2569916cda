"""A run told to people and machines. Reports read the run folder only; none of them runs a model.

Everything loads on first use: a comparison need not wait for what makes pages.
"""

from typing import TYPE_CHECKING

from foible.late import on_first_use

if TYPE_CHECKING:
    from foible.report.gate import Gate, check_gate
    from foible.report.junit import junit_xml, write_junit
    from foible.report.machine import to_json, write_json
    from foible.report.page import render_page, write_page
    from foible.report.summary import Summary, summarise
    from foible.report.text import plain_summary, print_summary

_HOME = {
    "Gate": "foible.report.gate",
    "Summary": "foible.report.summary",
    "check_gate": "foible.report.gate",
    "junit_xml": "foible.report.junit",
    "plain_summary": "foible.report.text",
    "print_summary": "foible.report.text",
    "render_page": "foible.report.page",
    "summarise": "foible.report.summary",
    "to_json": "foible.report.machine",
    "write_json": "foible.report.machine",
    "write_junit": "foible.report.junit",
    "write_page": "foible.report.page",
}

__all__ = [
    "Gate",
    "Summary",
    "check_gate",
    "junit_xml",
    "plain_summary",
    "print_summary",
    "render_page",
    "summarise",
    "to_json",
    "write_json",
    "write_junit",
    "write_page",
]

__getattr__ = on_first_use(__name__, _HOME)
