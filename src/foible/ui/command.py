"""A recipe as one line for a terminal, with nothing left to look up: `foible test MODEL --domain ... --set ...`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

from foible.classifiers.adapting.settings import spoken

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
