"""Serving: a public link only when asked for, with a password, and in words when it cannot be had."""

import socket
import sys
import types

import pytest
from typer.testing import CliRunner

from foible.cli.main import app
from foible.errors import FoibleError
from foible.ui.server import _listen

SHARE = ["ui", "--share", "--port", "0", "--runs"]


@pytest.fixture
def served(monkeypatch):
    """What would have been served, instead of serving it."""
    seen = []
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: seen.append((self.config.app, sockets[0])))
    yield seen
    for application, listening in seen:
        application.state.bench.sessions.close()
        listening.close()


def tunnel(monkeypatch, make):
    """Put something in the place of Gradio's tunnel."""
    networking = types.ModuleType("gradio.networking")
    networking.setup_tunnel = make
    monkeypatch.setitem(sys.modules, "gradio", types.ModuleType("gradio"))
    monkeypatch.setitem(sys.modules, "gradio.networking", networking)


def test_a_public_link_is_made_to_the_port_that_is_served_and_asks_for_the_password(monkeypatch, served, tmp_path):
    asked = []
    tunnel(monkeypatch, lambda *arguments: asked.append(arguments) or "https://link.example")
    said = CliRunner().invoke(app, [*SHARE, str(tmp_path)], env={"FOIBLE_PASSWORD": "open sesame"})
    assert said.exit_code == 0, said.output
    assert "and, with the password, at https://link.example" in said.output
    ((application, listening),) = served
    host, port, token, *_ = asked[0]
    assert (host, port) == ("127.0.0.1", listening.getsockname()[1]) and len(token) > 20
    assert application.state.bench.sessions.password == "open sesame"


@pytest.mark.parametrize("options", [["--share"], ["--host", "0.0.0.0"], ["--host", "::"]])
def test_nothing_is_served_to_others_without_a_password(monkeypatch, served, tmp_path, options):
    tunnel(monkeypatch, lambda *_: pytest.fail("a tunnel was opened"))
    monkeypatch.delenv("FOIBLE_PASSWORD", raising=False)
    said = CliRunner().invoke(app, ["ui", "--port", "0", "--runs", str(tmp_path), *options])
    assert said.exit_code == 2 and not served
    assert "needs a password" in said.output and "FOIBLE_PASSWORD" in said.output


def test_no_tunnel_unless_asked_for(monkeypatch, served, tmp_path):
    tunnel(monkeypatch, lambda *_: pytest.fail("a tunnel was opened"))
    said = CliRunner().invoke(app, ["ui", "--port", "0", "--runs", str(tmp_path)])
    assert said.exit_code == 0 and "http://127.0.0.1:" in said.output and len(served) == 1


def test_without_gradio_the_install_line_is_said(monkeypatch, served, tmp_path):
    monkeypatch.setitem(sys.modules, "gradio", None)
    monkeypatch.setitem(sys.modules, "gradio.networking", None)
    said = CliRunner().invoke(app, [*SHARE, str(tmp_path)], env={"FOIBLE_PASSWORD": "open sesame"})
    assert said.exit_code != 0 and not served
    assert 'pip install "foible[share]"' in said.output


def test_a_tunnel_that_fails_is_explained(monkeypatch, served, tmp_path):
    def fail(*_):
        raise RuntimeError("no way out")

    tunnel(monkeypatch, fail)
    said = CliRunner().invoke(app, [*SHARE, str(tmp_path)], env={"FOIBLE_PASSWORD": "open sesame"})
    assert said.exit_code != 0 and "the public link could not be made: no way out" in said.output


def test_a_taken_port_is_explained():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(FoibleError, match="cannot listen on"):
            _listen("127.0.0.1", taken.getsockname()[1])


def test_a_file_that_is_too_large_is_refused_in_words_and_not_kept(visit):
    client = visit(largest_upload=1_000_000)
    said = client.post("/uploads?name=large.pt", content=bytes(2_000_000), headers={"accept": "application/json"})
    assert said.status_code == 400 and "larger than 1 MB" in said.json()["message"]
    assert "large.pt" not in client.get("/setup").text
