"""Sections that other rooms draw are found in the registry and shown where they fit."""

from types import SimpleNamespace

from foible.errors import StoreError
from foible.report.parts import parts_of
from foible.store import open_run
from foible.testing.runs import Story, write_run


def silent(run):
    raise StoreError("not such a run")


def by_title(run):
    return {"matrix": f"<b>{run.name}</b>", "nothing": " "}


def sections(run):
    return [SimpleNamespace(title="Borders", html="<i>near</i>")]


def test_parts_come_from_the_registry_and_may_be_silent(tmp_path, monkeypatch):
    write_run(tmp_path / "run", [Story(True, 10, True)])
    here = {"a": silent, "b": by_title, "c": sections, "d": lambda run: None}
    monkeypatch.setattr("foible.report.parts.table", lambda name: here)
    monkeypatch.setattr("foible.report.parts.find", lambda _, name: here[name])
    drawn = parts_of(open_run(tmp_path / "run"))
    assert [(p.name, p.title) for p in drawn] == [("b", "Matrix"), ("c", "Borders")]
    assert drawn[1].html == "<i>near</i>"
