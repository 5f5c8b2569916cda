"""Every code block of the documentation runs, page by page, in a folder of its own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from foible.campaign import load_recipe

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|sh|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.stem)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names = {}
    for language, code in BLOCK.findall(page.read_text()):
        named = re.match(r"# file: (\S+)\n", code)
        if named:
            (tmp_path / named[1]).write_text(code)
        elif language == "python":
            exec(compile(code, page.name, "exec"), names)
        elif language == "sh":
            run(["bash", "-ec", code], tmp_path)
        else:
            facts = tomllib.loads(code)
            if "generator" in facts:
                load_recipe(facts)


def run(command, folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    modules = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": modules},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
