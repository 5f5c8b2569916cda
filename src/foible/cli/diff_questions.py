"""What `foible diff` can be asked about two models; every answer is printed, and may fail a build."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from foible.cli.progress import run_progress
from foible.differing.command import FIGURES, Beside, Difference, Models, diff_recipe, difference, replayed


class Extras(NamedTuple):
    """What is made of the disagreements found: a corpus file, realism, a selector, a survey of so many."""

    corpus: Path | None = None
    realism: bool = False
    selector: bool = False
    survey: int = 0


@dataclass(frozen=True)
class Question:
    """Two models and how to answer; each method is a question and gives the exit code."""

    models: Models
    domain: str
    data: str | None
    fail_if: list[str]
    quiet: bool

    def difference(
        self, generator: str, changes: Mapping[str, Any], folder: Path, beside: Beside, extras: Extras
    ) -> int:
        """On which images do they disagree?"""
        recipe = diff_recipe(self.models, self.domain, generator, changes)
        self._passes(dict.fromkeys(FIGURES), silent=True)  # a typo in a gate should not cost a run
        with run_progress(self.quiet) as listen:
            seen = difference(recipe, folder, beside, listen)
        if extras.corpus is not None:
            seen.corpus.save(extras.corpus)
        self._say(*_shown(seen, folder, extras.corpus))
        self._more(seen, folder, extras)
        passed = self._passes(seen.figures)
        return 3 if seen.state != "complete" else 0 if passed else 1

    def corpus(self, file: Path, accept: bool) -> int:
        """What do they say today of what was found before?"""
        from foible.differing.corpus import accepting, replay_figures
        from foible.differing.text import replay_text

        stored, now, figures = replayed(self.models, self.domain, self.data, file)
        if accept:
            stored = accepting(stored, now)
            stored.save(file)
            figures = replay_figures(stored, now)
        self._say(replay_text(stored, now, figures))
        return 0 if self._passes(figures) else 1

    def parity(self) -> int:
        """How far do scores drift, by model and batch size?"""
        from foible.differing.measured_text import parity_lines
        from foible.differing.questions import parity_of

        drift, classes = parity_of(self.models, self.domain, self.data)
        self._say(*parity_lines(drift, classes))
        return 0 if self._passes(drift.figures) else 1

    def reuse(self, unrelated: list[str], facts: dict[str, Any], folder: Path) -> int:
        """Is B derived from A?"""
        from foible.differing.measured_text import reuse_lines
        from foible.differing.questions import reuse_of

        with run_progress(self.quiet) as listen:
            seen = reuse_of(self.models, unrelated, facts, folder, listen)
        self._say(*reuse_lines(seen))
        return 0 if self._passes(seen.figures) else 1

    def _more(self, seen: Difference, folder: Path, extras: Extras) -> None:
        from foible.differing import measured_text, questions

        if extras.realism:
            self._say(*measured_text.realism_lines(questions.realism_of(seen, self.domain, self.data)))
        if extras.selector:
            self._say("", *measured_text.selector_lines(questions.selector_of(seen, self.domain)))
        if extras.survey:
            made = questions.survey_of(seen, extras.survey, folder / "survey.html", self.data)
            self._say(
                f"{made.page}: {made.images} disagreements whose truth is unknown, where it pays most to know it",
                f"send it to people, then: foible survey import {folder} answers.csv, and the same command again",
            )

    def _say(self, *lines: str) -> None:
        if not self.quiet:
            print(*lines, sep="\n")

    def _passes(self, figures: Mapping[str, Any], silent: bool = False) -> bool:
        """Whether no gate fails; said where somebody asked, and when quiet only of one that fails."""
        from foible.report import check_gate

        gate = check_gate(self.fail_if, figures)
        if self.fail_if and not silent and not (self.quiet and gate.passed):
            print(gate.text, file=sys.stderr if self.quiet else sys.stdout)
        return gate.passed


def _shown(seen: Difference, folder: Path, saved: Path | None) -> list[str]:
    """Pages written, and what to print of a difference."""
    from foible.differing.page import write_difference_page
    from foible.differing.stored import save_facts
    from foible.differing.text import difference_text
    from foible.report import summarise, write_page

    write_page(seen.run, None, summarise(seen.run))
    save_facts(seen)
    page = write_difference_page(seen.run)
    kept = [f"corpus of {len(seen.corpus)} images: {saved}"] if saved is not None else []
    return [difference_text(seen), f"run: {folder}, page: {page}", *kept]
