"""Layers point one way, and heavy packages are imported late and in one place."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import foible

PACKAGE = Path(foible.__file__).parent
LAYERS = [
    {"errors", "late", "names", "types", "records", "digest", "plain"},
    {"files", "images", "registry", "parameters", "seeding", "batching", "protocols", "faces"},
    {"domains", "sandbox", "metrics", "coverage"},
    {"classifiers"},
    {"generators"},
    {"store"},
    {"objectives", "searches", "oracles", "validators", "zoo"},
    {"campaign"},
    {"report", "borders", "training", "judging", "measuring", "survey", "api", "testing"},
    {"benchmark", "differing"},
    {"ui"},
    {"cli", "__main__"},
]
HEIGHT = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = (
            [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        yield from (n.split(".")[1] for n in names if n.startswith("foible."))


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(PACKAGE.rglob("*.py")) if p != PACKAGE / "__init__.py"],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_no_room_looks_up(path):
    room = room_of(path)
    assert room in HEIGHT, f"give the room '{room}' a place in LAYERS"
    too_high = [r for r in imported_rooms(path) if HEIGHT[r] > HEIGHT[room]]
    assert not too_high


def test_no_two_rooms_need_each_other():
    """Rooms of one layer may use each other one way only."""
    needs = {}
    for path in PACKAGE.rglob("*.py"):
        needs.setdefault(room_of(path), set()).update(set(imported_rooms(path)) - {room_of(path)})
    mutual = sorted((a, b) for a in needs for b in needs[a] if a < b and a in needs.get(b, ()))
    assert not mutual


@pytest.mark.parametrize(("one", "other"), [("kinds", "adapting"), ("adapting", "kinds")])
def test_kinds_of_models_and_adaptation_know_nothing_of_each_other(one, other):
    for path in (PACKAGE / "classifiers" / one).glob("*.py"):
        assert f"foible.classifiers.{other}" not in path.read_text(), path


def test_importing_foible_and_asking_for_help_is_light():
    code = "import sys, foible, foible.cli.main; print([m for m in ('torch', 'numpy', 'pydantic', 'matplotlib') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_comparing_runs_waits_for_no_network_library():
    code = "import sys, foible.report.comparison, foible.report.comparison_text; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
