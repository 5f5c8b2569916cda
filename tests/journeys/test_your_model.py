"""The page "your model in five minutes" is true: its files are written, its commands run, in order."""

import re
import runpy
import shlex
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import typer.testing

from foible.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "your-model.md"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore")
def test_the_page_is_true(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    said, servers = [], []
    port = free_port()
    for language, code in BLOCK.findall(PAGE.read_text().replace("8765", str(port))):
        if language == "python":
            (tmp_path / re.match(r"# file: (\S+)\n", code)[1]).write_text(code)
            continue
        for words in (shlex.split(line.removeprefix("$ ")) for line in code.splitlines()):
            if words[-1] == "&":
                servers.append(in_background(words[:-1], port))
                request.addfinalizer(servers[-1].kill)
            else:
                said.append((words, follow(words)))
    assert len(servers) == 1
    for module in [m for m in sys.modules if Path(getattr(sys.modules[m], "__file__", "") or "").parent == tmp_path]:
        del sys.modules[module]
    looks = [output for words, output in said if "--look" in words]
    assert len(looks) == 9
    assert all("right on" in output and "wrong" not in output for output in looks)
    assert "no network" in looks[-1] and "probabilities (seen)" in looks[6]
    assert (tmp_path / "runs" / "mine" / "manifest.json").is_file()


def free_port():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


def in_background(words, port):
    """Start a server of the page, and wait for it; in this process it would stay the main module of every test after."""
    assert words[0] == "python"
    server = subprocess.Popen([sys.executable, *words[1:]])
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        with socket.socket() as opened:
            if opened.connect_ex(("127.0.0.1", port)) == 0:
                return server
        time.sleep(0.05)
    raise AssertionError("the server does not answer")


def follow(words):
    """Run one command of the page as a reader would, without a process of its own."""
    if words[0] == "python":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_path(words[1], run_name="__main__")
        return ""
    result = typer.testing.CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, f"{words}\n{result.output}"
    return result.output
