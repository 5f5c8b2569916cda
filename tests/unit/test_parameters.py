"""What can be set about a component, from its fields and its docstring alone."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from foible.errors import RecipeError
from foible.parameters import Kind, component, components, parameters_of, title_of
from foible.registry import BUILT_IN


@dataclass(frozen=True)
class Plenty:
    """Something of every kind.

    More about it.

    Args:
        whole: how many.
        number: how much, in a
            second line: too.
        flag (bool): whether.
        pick: one of three.
        words: any text.
        either: a name or a number.
        maybe: can be nothing.
        items: some numbers.
        names: some words.
        made: by a factory.

    Raises:
        Nothing: at all.
    """

    needed: int
    whole: int = 3
    number: float = 0.5
    flag: bool = True
    pick: Literal["a", "b"] = "a"
    words: str = "hello"
    either: str | float = "high"
    maybe: int | None = None
    items: tuple[float, ...] = (1.0, 2.0)
    names: tuple[str, ...] | None = None
    made: list[str] = field(default_factory=lambda: ["x"])
    place: Path = Path("here")
    model: object = None
    shared: ClassVar[int] = 1


def by_name():
    return {p.name: p for p in parameters_of(Plenty)}


def test_kinds_defaults_and_explanations():
    found = by_name()
    assert {name: p.kind for name, p in found.items()} == {
        "needed": Kind.WHOLE, "whole": Kind.WHOLE, "number": Kind.NUMBER, "flag": Kind.YES_NO, "pick": Kind.CHOICE,
        "words": Kind.TEXT, "either": Kind.TEXT, "maybe": Kind.WHOLE, "items": Kind.LIST, "names": Kind.LIST,
        "made": Kind.LIST, "place": Kind.TEXT,
    }  # fmt: skip
    assert found["needed"].required and not found["whole"].required
    assert found["number"].about == "how much, in a second line: too." and found["flag"].about == "whether."
    assert found["made"].default == ["x"] and found["pick"].choices == ("a", "b")
    assert title_of(Plenty) == "Something of every kind"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("whole", "7", 7), ("whole", "", 3), ("number", "1e-3", 0.001), ("flag", "no", False), ("pick", "b", "b"),
        ("either", "low", "low"), ("either", "0.002", 0.002), ("words", "12", "12"), ("maybe", "", None),
        ("items", "1, 2.5", [1, 2.5]), ("names", "3, cat", ["3", "cat"]),
    ],
)  # fmt: skip
def test_what_is_written_is_read(name, text, value):
    parameter = by_name()[name]
    assert parameter.read(text) == value
    assert parameter.read(parameter.write(value)) == value


@pytest.mark.parametrize(
    ("name", "text"), [("whole", "1.5"), ("whole", "9" * 30), ("number", "much"), ("flag", "maybe"), ("pick", "c"), ("needed", "")]
)  # fmt: skip
def test_what_makes_no_sense_is_named(name, text):
    with pytest.raises(RecipeError, match=name):
        by_name()[name].read(text)


@pytest.mark.parametrize("heading", ["searches", "objectives", "oracles", "validators", "generators"])
def test_every_component_says_what_it_is_and_explains_its_parameters(heading):
    for found in components(heading):
        assert found.title and not found.broken, found.name
        for parameter in found.parameters:
            assert parameter.about or parameter.name == "name", f"{found.name}: document {parameter.name} under Args:"
    assert {c.name for c in components(heading)} >= set(BUILT_IN[heading])


def test_a_broken_plug_in_does_not_hide_the_others(monkeypatch):
    known = dict(BUILT_IN["oracles"]) | {"broken": "no_such_module:Oracle"}
    monkeypatch.setattr("foible.parameters.table", lambda _: known)
    monkeypatch.setattr("foible.registry.table", lambda _: known)
    found = {c.name: c for c in components("oracles")}
    assert found["broken"].broken and "no_such_module" in found["broken"].title
    assert not found["misclassified"].broken


def test_a_component_in_a_file_is_described_too(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text('class Mine:\n    """My own."""\n\n    def __init__(self, depth: int = 2) -> None: ...\n')
    found = component("searches", f"{path}:Mine")
    assert (found.title, [p.name for p in found.parameters]) == ("My own", ["depth"])
