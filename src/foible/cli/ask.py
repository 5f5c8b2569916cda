"""When only the user can say: the same command again, once for each thing that may be meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence


def commands(choices: Sequence[Mapping[str, str]], words: Sequence[str]) -> list[str]:
    """The command that was typed, with what each choice says of the model: options for `test`, --set for the others."""
    verb = next((word for word in words if not word.startswith("-")), "test")
    return [shlex.join(["foible", *words, *_options(verb, said)]) for said in choices]


def _options(verb: str, said: Mapping[str, str]) -> list[str]:
    if verb == "test":
        return [f"--{name}={text}" for name, text in said.items()]
    return [part for name, text in said.items() for part in ("--set", f"classifier.{name}={_toml(text)}")]


def _toml(text: str) -> str:
    return f"[{text}]" if re.fullmatch(r"[-\d.e,+]+", text) else f'"{text}"'
