"""Reports: one summary of a run, and the ways to read it. Everything here reads the store only."""

from foible.report.gate import Gate, check_gate
from foible.report.junit import write_junit
from foible.report.machine import write_json
from foible.report.page import write_page
from foible.report.summary import Summary, summarise

__all__ = ["Gate", "Summary", "check_gate", "summarise", "write_json", "write_junit", "write_page"]
