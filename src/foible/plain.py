"""Text that nothing acts on: names of files, messages and what models say may hold escape codes."""

from __future__ import annotations

import re

# Control characters but tab and newline; marks that turn the direction of writing; line separators; lone surrogates.
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """Text in which whatever a terminal would act on is written out: ESC as \\x1b."""
    return ACTING.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
