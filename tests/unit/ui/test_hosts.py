"""The guard lets in the hosts that Starlette's own middleware lets in, and tells more when it refuses."""

import asyncio

import pytest
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse

from foible.ui.guard import Guard
from foible.ui.sessions import Sessions

HOSTS = frozenset({"localhost", "127.0.0.1", "bench.example"})
ASKED = ["localhost", "localhost:7860", "127.0.0.1:80", "bench.example", "BENCH.example:1", "evil.example"]
ASKED += ["localhost.evil.example", "127.0.0.1.evil.example:7860", "", "evil.example:localhost", "xlocalhost"]


def status(app, host):
    """What a GET with this Host header is answered with."""
    answers = []
    headers = [(b"host", host.encode())] if host else []
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "query_string": b"", "scheme": "http"}

    async def send(message):
        answers.append(message)

    async def receive():
        return {"type": "http.request", "body": b""}

    asyncio.run(app(scope | {"server": ("localhost", 80)}, receive, send))
    return answers[0]["status"]


@pytest.mark.parametrize("host", ASKED)
def test_as_strict_as_starlette(host):
    inner = PlainTextResponse("welcome")
    ours = status(Guard(inner, Sessions(None), HOSTS), host)
    theirs = status(TrustedHostMiddleware(inner, sorted(HOSTS), www_redirect=False), host)
    assert (ours == 200) == (theirs == 200)


def test_addresses_of_the_newer_protocol_are_known():
    guard = Guard(PlainTextResponse("welcome"), Sessions(None), frozenset({"::1"}))
    assert status(guard, "[::1]:7860") == 200 and status(guard, "[::2]:7860") == 403
