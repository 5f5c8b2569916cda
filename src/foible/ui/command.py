"""A recipe as one line for a terminal, with nothing left to look up: `foible test MODEL --domain ... --set ...`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

from foible.classifiers.adapting.settings import spoken
from foible.types import RIVAL

PLAIN = re.compile(r"(?!(true|false|inf|nan)$)[A-Za-z][\w-]*")
NAMED = ("attempts", "seed")  # values that have an option of their own


def command_of(facts: Mapping[str, Any]) -> str:
    """The line that runs what these facts of a recipe say: all of it, since a search may suggest what is left open."""
    classifier, generator = as_table(facts["classifier"]), as_table(facts["generator"])
    words = ["foible", "test", classifier.pop("use"), "--domain", facts["domain"], "--generator", generator.pop("use")]
    said = {k: v for k, v in spoken(classifier).items() if "\n" not in v}
    for name, text in said.items():
        words += [f"--{name}={text}"]
        classifier.pop(name)
    if (untrusted := classifier.pop("untrusted", None)) is not None:
        words += ["--untrusted" if untrusted else "--trusted"]
    rest = {k: v for k, v in facts.items() if k not in {"domain", "classifier", "generator"}}
    for key, value in _flat(rest | {"classifier": classifier, "generator": generator}):
        words += [f"--{key}", str(value)] if key in NAMED else ["--set", f"{key}={_toml(value)}"]
    return shlex.join([*words, "--out", f"runs/{facts['name']}"])


def diff_command_of(facts: Mapping[str, Any]) -> str:
    """The line that looks for differences of two models."""
    return shlex.join(["foible", *diff_words(facts, f"runs/{facts['name']}")])


def diff_words(facts: Mapping[str, Any], out: str) -> list[str]:
    """The words of `foible diff`; what its recipe says by itself is left out."""
    first, rival = as_table(facts["classifier"]), as_table(facts["classifiers"][RIVAL])
    words = ["diff", first.pop("use")]
    kind, use = rival.pop("variant", None), rival.pop("use")
    words += ["--variant", kind] if kind else [use]
    words += ["--domain", facts["domain"], "--generator", as_table(facts["generator"]).pop("use")]
    rest = {k: v for k, v in facts.items() if k not in {"name", "domain", "generator", "classifier", "classifiers"}}
    if rest.get("search") in ("frontier", {"use": "frontier"}):
        del rest["search"]  # where A lends no gradients, another one takes its place
    others = {k: v for k, v in facts["classifiers"].items() if k != RIVAL}
    said = rest | {"classifier": first, "classifiers": others | ({} if kind else {RIVAL: rival})}
    for key, value in _flat(said):
        words += [f"--{key}", str(value)] if key in NAMED else ["--set", f"{key}={_toml(value)}"]
    return [*words, "--out", out]


def as_table(part: Mapping[str, Any] | str) -> dict[str, Any]:
    """A component of a recipe as a table, also where it is a bare name."""
    return {"use": part} if isinstance(part, str) else dict(part)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _toml(value: Any) -> str:
    """A value as `--set` reads it; plain words need no quotes."""
    if isinstance(value, str) and PLAIN.fullmatch(value):
        return value
    text = tomli_w.dumps({"value": value}).removeprefix("value = ").strip()
    return " ".join(line.strip() for line in text.splitlines())
