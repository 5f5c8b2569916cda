"""Looking at a set-up before it runs: every look in a process of its own, which ends when its visitor leaves.

A model may be slow, hang or eat memory. What is looked at for one visitor costs no other visitor a page.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from starlette.concurrency import run_in_threadpool

from foible.campaign import Recipe, check, load_recipe
from foible.campaign.estimate import evaluations_per_second
from foible.classifiers.adapting.conventions import Undecided
from foible.classifiers.adapting.probe import Line
from foible.differing.command import assembled
from foible.errors import FoibleError
from foible.ui.recognising import Recognised, Tried, recognise

AT_ONCE = 3  # looks at the same time; later ones wait
LONGEST = 600.0  # seconds for one look
Left = Callable[[], Awaitable[bool]]
HOW = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
ENDED = Line(
    "wrong", "set-up", "the classifier ended the process that looked at it", "try it with: foible test MODEL --look"
)
TOO_LONG = Line("wrong", "set-up", f"looking at it took more than {LONGEST / 60:.0f} minutes", "try a smaller model")


@dataclass(frozen=True)
class Probe:
    """What was found out about a set-up before running it, and how fast it is (None when it cannot run).

    `asks` are the answers among which only the visitor can choose, each as fields of the form.
    """

    lines: tuple[Line, ...]
    rate: float | None
    asks: tuple[Mapping[str, str], ...] = ()

    @property
    def fine(self) -> bool:
        """Whether a run makes sense."""
        return self.rate is not None


class Probing:
    """Looks under way, at most one for each visitor."""

    def __init__(self) -> None:
        self._context: Any = multiprocessing.get_context(HOW)
        if HOW == "forkserver":
            self._context.set_forkserver_preload(["foible.ui.probing"])
        self._room = asyncio.Semaphore(AT_ONCE)
        self._going: dict[Hashable, BaseProcess] = {}

    async def look(self, recipe: Recipe, visitor: Hashable, left: Left) -> Probe | None:
        """What a look finds out; None when the visitor left, or asked for another look, before it was over."""
        told = await self._ask("look", recipe.model_dump_json(exclude_unset=True), visitor, left)
        if told is None or isinstance(told, Line):
            return Probe((told,), None) if told else None
        return Probe(tuple(Line(**line) for line in told["lines"]), told["rate"], tuple(told["asks"]))

    async def recognise(
        self, model: Mapping[str, Any], domains: Mapping[str, str], visitor: Hashable, left: Left
    ) -> Recognised | None:
        """Which of these domains (name -> what a recipe says) a model is for; None as with `look`."""
        payload = json.dumps({"model": dict(model), "domains": dict(domains)})
        told = await self._ask("recognise", payload, visitor, left)
        if told is None or isinstance(told, Line):
            return Recognised(None, (), told.message) if told else None
        return Recognised(told["domain"], tuple(Tried(**one) for one in told["tried"]))

    async def _ask(self, what: str, payload: str, visitor: Hashable, left: Left) -> dict[str, Any] | Line | None:
        """What a process of its own says; a line where it ended without a word."""
        self.give_up(visitor)
        async with self._room:
            ours, theirs = self._context.Pipe(duplex=False)
            process = self._context.Process(target=work, args=(theirs, what, payload), daemon=True)
            self._going[visitor] = process
            try:
                await run_in_threadpool(process.start)
                theirs.close()
                return await self._result(process, ours, visitor, left)
            finally:
                if self._going.get(visitor) is process:
                    del self._going[visitor]
                ours.close()
                await run_in_threadpool(_end, process)

    def give_up(self, visitor: Hashable) -> None:
        """End the look that a visitor has under way."""
        process = self._going.pop(visitor, None)
        if process is not None and process.pid is not None:
            process.kill()

    async def _result(
        self, process: BaseProcess, ours: Connection, visitor: Hashable, left: Left
    ) -> dict[str, Any] | Line | None:
        until = time.monotonic() + LONGEST
        while not ours.poll():
            if self._going.get(visitor) is not process or await left():
                return None
            if not process.is_alive() and not ours.poll():
                return ENDED
            if time.monotonic() > until:
                return TOO_LONG
            await asyncio.sleep(0.05)
        try:
            told: dict[str, Any] = json.loads(ours.recv_bytes())
            return told
        except (EOFError, OSError, ValueError):
            return ENDED if self._going.get(visitor) is process else None

    def close(self) -> None:
        """End all looks."""
        for visitor in list(self._going):
            self.give_up(visitor)


def probe_key(recipe: Recipe) -> Hashable:
    """What a probe depends on."""
    others = tuple((role, part.model_dump_json()) for role, part in recipe.classifiers.items())
    models = (recipe.generator.model_dump_json(), recipe.classifier.model_dump_json(), others)
    return ("probe", recipe.domain, *models, recipe.search.use, recipe.oracle.use)


def work(answer: Connection, what: str, payload: str) -> None:
    """In the process: find out which domain a model is for, or look at a set-up as `foible check` does."""
    asked = json.loads(payload)
    found = look_at(load_recipe(asked)) if what == "look" else recognise(asked["model"], asked["domains"])
    answer.send_bytes(json.dumps(asdict(found)).encode())


def look_at(recipe: Recipe) -> Probe:
    """Everything that can be said about a set-up before it runs."""
    try:
        campaign = assembled(recipe)
        try:
            notes = getattr(campaign.classifier, "notes", ())
            lines = (*(Line("ok", "classifier", note) for note in notes), *check(campaign).lines)
            wrong = any(line.level == "wrong" for line in lines)
            return Probe(lines, None if wrong else evaluations_per_second(campaign))
        finally:
            if callable(end := getattr(campaign.classifier, "close", None)):
                end()
    except Undecided as error:
        return Probe((Line("wrong", "set-up", error.message, "say which it is"),), None, error.choices)
    except FoibleError as error:
        return Probe((Line("wrong", "set-up", error.message, error.hint),), None)
    except Exception as error:
        reason = f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[0][:300]}"
        return Probe((Line("wrong", "set-up", f"unexpected {reason}", "try it with: foible --debug test ..."),), None)


def _end(process: BaseProcess) -> None:
    with contextlib.suppress(ValueError, AssertionError, AttributeError):
        process.kill()
        process.join(5)
        process.close()
