"""What can be set about a component: derived from its signature and its documentation, and written nowhere else.

The page's form, `foible ls`, the recipe reference and the contract tests are all made from this, so that a new component
appears in them by being registered. A parameter is a field of the dataclass (or an argument of the class) whose type a
recipe can hold; its explanation is its line in the Google-style `Args:` section of the class docstring.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

from foible.errors import RecipeError, did_you_mean
from foible.registry import find, table


class Kind(StrEnum):
    """What a value looks like."""

    WHOLE = "whole number"
    NUMBER = "number"
    YES_NO = "yes or no"
    CHOICE = "one of several"
    TEXT = "text"
    LIST = "list"
    TABLE = "table"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One thing that can be set: `required` where it has no default, `numeric` where text or lists may hold numbers."""

    name: str
    kind: Kind
    default: Any = None
    about: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    numeric: bool = False

    @property
    def shape(self) -> str:
        """Its kind in words, with what there is to choose from."""
        several = ", ".join(self.choices)
        if self.kind is Kind.TEXT and self.numeric:
            return f"number, or {several}" if several else "text or number"
        return f"{self.kind}: {several}" if self.kind is Kind.CHOICE else str(self.kind)

    def takes(self, value: Any) -> bool:
        """Whether a value that is no text can be meant: numbers are finite, and yes and no are no numbers."""
        if self.kind not in {Kind.YES_NO, Kind.WHOLE, Kind.NUMBER} or value is None or value == self.default:
            return True
        if self.kind is Kind.YES_NO or isinstance(value, bool):
            return self.kind is Kind.YES_NO and isinstance(value, bool)
        return isinstance(value, Integral if self.kind is Kind.WHOLE else Real) and math.isfinite(value)

    def read(self, text: str) -> Any:
        """The value that a text stands for; an empty one is the default."""
        text = text.strip()
        if not text:
            if self.required:
                raise RecipeError(f"{self.name} is missing", self.about)
            return self.default
        return _READ[self.kind](self, text)

    def write(self, value: Any) -> str:
        """A value as text that `read` understands; nothing at all is empty."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, Mapping):
            return ", ".join(f"{k} = {v}" for k, v in value.items())
        if isinstance(value, Sequence) and not isinstance(value, str):
            return ", ".join(map(str, value))
        return str(value)


@dataclasses.dataclass(frozen=True)
class Component:
    """A registered component as a user meets it: its name, what it is in one line, and what can be set about it."""

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    broken: bool = False

    def parameter(self, name: str) -> Parameter:
        """The parameter of this name."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise RecipeError(
            f"'{self.name}' has no parameter '{name}'", did_you_mean(name, [p.name for p in self.parameters])
        )


def components(heading: str) -> list[Component]:
    """Everything registered under a heading such as "searches", in order of name; a plug-in that is broken says so."""
    found = []
    for name in sorted(table(heading)):
        try:
            found.append(component(heading, name))
        except Exception as error:  # of another package: it must not hide the others
            found.append(Component(name, f"cannot be loaded: {type(error).__name__}: {error}", (), broken=True))
    return found


def component(heading: str, name: str) -> Component:
    """One component, by its registered name or as `file.py:Name`."""
    factory = find(heading, name)
    return Component(name, title_of(factory), parameters_of(factory))


def model_parameters(model: Any, prefix: str = "") -> Iterator[tuple[str, Any, Parameter | None]]:
    """The keys of a pydantic model and of the tables in it, as dotted key, field and parameter (None for a table's own)."""
    for name, field in model.model_fields.items():
        inner = next((h for h in _alternatives(field.annotation) if hasattr(h, "model_fields")), None)
        if inner is not None and len(inner.model_fields) > 1:  # a table of its own, and not a part by name
            yield from model_parameters(inner, f"{prefix}{name}.")
            continue
        about = field.description or ""
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        yield prefix + name, field, parameter_of(name, field.annotation, default, about, field.is_required())


def title_of(factory: Callable[..., Any]) -> str:
    """The first line of a docstring, without its full stop."""
    text = "" if _is_generated(factory) else inspect.getdoc(factory) or ""
    return " ".join(text.partition("\n\n")[0].split()).removesuffix(".")


def parameters_of(factory: Callable[..., Any]) -> tuple[Parameter, ...]:
    """What a recipe can set; arguments of other types (models, tensors, a domain) are the machine's to give."""
    hints = _hints(factory)
    about = explanations(factory)
    found = []
    for name, argument in inspect.signature(factory).parameters.items():
        if argument.kind in (argument.VAR_KEYWORD, argument.VAR_POSITIONAL) or name not in hints:
            continue
        required = argument.default is argument.empty
        default = None if required else _default(factory, name, argument.default)
        parameter = parameter_of(name, hints[name], default, about.get(name, ""), required)
        if parameter is not None:
            found.append(parameter)
    return tuple(found)


def parameter_of(name: str, hint: Any, default: Any, about: str, required: bool = False) -> Parameter | None:
    """A parameter of this type; None for a type that a recipe cannot hold."""
    parts = [h for h in _alternatives(hint) if h is not type(None)]
    literals = [a for h in parts if typing.get_origin(h) is Literal for a in typing.get_args(h)]
    plain = {h for h in parts if typing.get_origin(h) is not Literal}
    facts = {"name": name, "default": default, "about": about, "required": required}
    if literals and not plain:
        return Parameter(kind=Kind.CHOICE, choices=tuple(map(str, literals)), **facts)
    if plain == {bool}:
        return Parameter(kind=Kind.YES_NO, choices=("yes", "no"), **facts)
    if literals or plain & {str, Path}:
        return Parameter(kind=Kind.TEXT, choices=tuple(map(str, literals)), numeric=bool(plain & {int, float}), **facts)
    if plain and plain <= {int, float}:
        return Parameter(kind=Kind.NUMBER if float in plain else Kind.WHOLE, **facts)
    if plain and all(
        typing.get_origin(h) in (tuple, list, dict, Sequence, Mapping) or h in (tuple, list) for h in plain
    ):
        if any(typing.get_origin(h) in (dict, Mapping) for h in plain):
            return Parameter(kind=Kind.TABLE, **facts)
        items = {item for h in plain for item in typing.get_args(h)}
        facts["default"] = (
            list(default) if isinstance(default, tuple) else default
        )  # as it is read, and written in TOML
        return Parameter(kind=Kind.LIST, numeric=bool(items & {int, float}), **facts)
    return None


def explanations(factory: Callable[..., Any]) -> dict[str, str]:
    """The `Args:` sections of a docstring and of those it inherits from, as name -> explanation."""
    lineage = reversed(factory.__mro__) if inspect.isclass(factory) else [factory]
    return {name: text for part in lineage for name, text in _section(part.__doc__ or "").items()}


def _section(text: str) -> dict[str, str]:
    section = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", inspect.cleandoc(text), re.MULTILINE)
    said: dict[str, list[str]] = {}
    for line in inspect.cleandoc("\n" + section[1]).splitlines() if section else ():
        name = re.match(r"(\w+)(?: \([^)]*\))?: *(.*)", line)
        if name:
            said[name[1]] = [name[2]]
        elif said and line.strip():
            said[list(said)[-1]].append(line.strip())
    return {name: " ".join(lines) for name, lines in said.items()}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _hints(factory: Callable[..., Any]) -> dict[str, Any]:
    """Types by argument; a plug-in may name some that exist for the type checker only."""
    source = factory if not inspect.isclass(factory) or dataclasses.is_dataclass(factory) else factory.__init__
    try:
        return typing.get_type_hints(source)
    except (NameError, TypeError):
        known = {"int": int, "float": float, "bool": bool, "str": str}
        return {k: known.get(str(v), v) for k, v in getattr(source, "__annotations__", {}).items()}


def _default(factory: Callable[..., Any], name: str, default: Any) -> Any:
    """A default; that of a field made by a factory is made."""
    field = getattr(factory, "__dataclass_fields__", {}).get(name)
    if field is not None and field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return default


def _is_generated(factory: Callable[..., Any]) -> bool:
    """Whether a docstring is only the signature that dataclasses put there for want of one."""
    text = getattr(factory, "__doc__", None) or ""
    return dataclasses.is_dataclass(factory) and text.startswith(f"{getattr(factory, '__name__', '')}(")


def _read_whole(parameter: Parameter, text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,12}", text):
        raise RecipeError(f"{parameter.name}: '{text[:20]}' is not a whole number", parameter.about)
    return int(text)


def _read_number(parameter: Parameter, text: str) -> float:
    number = _number(text)
    if number is None:
        raise RecipeError(f"{parameter.name}: '{text[:20]}' is not a number", parameter.about)
    return number


def _read_choice(parameter: Parameter, text: str) -> str:
    if text not in parameter.choices:
        raise RecipeError(f"{parameter.name}: no choice is called '{text[:40]}'", did_you_mean(text, parameter.choices))
    return text


def _read_yes_no(parameter: Parameter, text: str) -> bool:
    return _read_choice(parameter, text) == "yes"


def _read_text(parameter: Parameter, text: str) -> str | float:
    number = _number(text) if parameter.numeric else None
    return text if number is None else number


def _read_list(parameter: Parameter, text: str) -> list[Any]:
    """Values with commas between; numbers are numbers where the type says so."""
    words = [word.strip() for word in text.strip("[]").split(",")]
    return [_word(word) if parameter.numeric else word for word in words if word]


def _read_table(parameter: Parameter, text: str) -> dict[str, Any]:
    """Pairs as TOML writes them: a = 1, b = "two"."""
    try:
        return dict(tomllib.loads(f"value = {{ {text} }}")["value"])
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{parameter.name}: '{text[:40]}' is not a table", 'write it as a = 1, b = "two"') from error


def _word(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _number(text: str) -> float | int | None:
    try:
        return int(text) if re.fullmatch(r"[+-]?[0-9]{1,12}", text) else float(text[:40])
    except ValueError:
        return None


_READ: dict[Kind, Callable[[Parameter, str], Any]] = {
    Kind.WHOLE: _read_whole,
    Kind.NUMBER: _read_number,
    Kind.CHOICE: _read_choice,
    Kind.YES_NO: _read_yes_no,
    Kind.TEXT: _read_text,
    Kind.LIST: _read_list,
    Kind.TABLE: _read_table,
}
