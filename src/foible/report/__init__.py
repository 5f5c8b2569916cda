"""A run told to people and machines. Reports read the run folder only; none of them runs a model."""

from foible.report.gate import Gate, check_gate
from foible.report.junit import junit_xml, write_junit
from foible.report.machine import to_json, write_json
from foible.report.page import render_page, write_page
from foible.report.summary import Summary, summarise
from foible.report.text import plain_summary, print_summary

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
