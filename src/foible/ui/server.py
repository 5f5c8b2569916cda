"""Serving the workbench: on this machine unless told otherwise, with a tunnel only when asked for."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket

from foible.errors import FoibleError, MissingExtra
from foible.ui.app import Settings, create_app


def serve(settings: Settings, port: int) -> None:
    """Serve until interrupted; runs that were started go on."""
    import uvicorn

    listening = _listen(settings.host, port)
    app = create_app(settings)
    chosen = listening.getsockname()[1]
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    print(f"foible is at http://{shown}:{chosen}  (Ctrl-C ends the page; runs go on)", flush=True)
    if settings.share:
        print(f"and, with the password, at {_tunnel(chosen)}", flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        raise FoibleError(
            f"cannot listen on {host}:{port}: {error.strerror}", "another workbench may be there: try --port 7861"
        ) from error
    return opened


def _tunnel(port: int) -> str:
    """A public address through Gradio's tunnel."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    try:
        from gradio.networking import setup_tunnel
    except ImportError:
        raise MissingExtra("gradio", "share", "a public link") from None
    try:
        return str(setup_tunnel("127.0.0.1", port, secrets.token_urlsafe(32), None, None))
    except Exception as error:
        raise FoibleError(f"the public link could not be made: {error}", "leave out --share") from error
