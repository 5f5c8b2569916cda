"""The password page."""

from __future__ import annotations

import asyncio
import math
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from foible.ui.guard import cookie
from foible.ui.live import duration
from foible.ui.render import bench, page, short_body
from foible.ui.sessions import COOKIE

PAUSE = 1.0  # seconds that a wrong password costs


async def login(request: Request) -> Response:
    """Ask for the password; a right one opens the page that was wanted."""
    target = request.query_params.get("next", "/")
    target = target if target.startswith("/") and not target.startswith(("//", "/\\")) else "/"
    if request.method == "GET":
        return page("login", wrong=False, wait="", target=target)
    shared, address = bench(request), request.client.host if request.client else ""
    wait = shared.attempts.begin(address)
    if wait > 0:
        answer = page("login", 429, wrong=False, wait=duration(wait), target=target)
        answer.headers["Retry-After"] = str(math.ceil(wait))
        return answer
    body = await short_body(request, 4000)
    password = parse_qs(body.decode(errors="replace")).get("password", [""])[0]
    token = shared.sessions.sign_in(password)
    if token is None:
        await asyncio.sleep(PAUSE)
        return page("login", 403, wrong=True, wait="", target=target)
    shared.attempts.right(address)
    return RedirectResponse(target, status_code=303, headers={"set-cookie": cookie(token)})


def logout(request: Request) -> Response:
    """End the session, with its uploads."""
    bench(request).sessions.sign_out(request.cookies.get(COOKIE))
    return RedirectResponse("/login", status_code=303, headers={"set-cookie": f"{cookie('')}; Max-Age=0"})


routes = [Route("/login", login, methods=["GET", "POST"]), Route("/logout", logout, methods=["POST"])]
