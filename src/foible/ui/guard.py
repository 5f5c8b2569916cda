"""The door: only known hosts, only our own pages may send, a password where one is set, nothing from other places."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foible.errors import FoibleError
from foible.ui.sessions import COOKIE, Sessions

LOCKED: ContextVar[bool] = ContextVar("locked", default=False)  # whether this visitor came in with a password
OPEN = ("/login", "/static/")  # what a browser may fetch before it knows the password
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass
class Guard:
    """Middleware around every page.

    `hosts` are the names under which the workbench may be asked for; None takes any, which needs a password. Refusing
    other names keeps a foreign page from reaching a loopback server through a name of its own (DNS rebinding).
    """

    app: ASGIApp
    sessions: Sessions
    hosts: frozenset[str] | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal:
            await PlainTextResponse(refusal, status_code=403)(scope, receive, send)
            return
        token = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        session = self.sessions.find(token)
        fresh = None
        if session is None:
            try:
                fresh, session = self.sessions.begin() if self.sessions.password is None else (None, None)
            except FoibleError as error:
                await PlainTextResponse(error.message, status_code=503)(scope, receive, send)
                return
        if (session is None or not session.signed_in) and not scope["path"].startswith(OPEN):
            target = f"/login?next={quote(scope['path'])}"
            await RedirectResponse(target, status_code=303)(scope, receive, send)
            return
        scope.setdefault("state", {})["session"] = session
        LOCKED.set(self.sessions.password is not None and session is not None and session.signed_in)

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                dress(MutableHeaders(scope=message), fresh)
            await send(message)

        await self.app(scope, receive, dressed)

    def _refusal(self, scope: Scope, headers: Headers) -> str:
        host = _name(f"//{headers.get('host', '')}")
        if self.hosts is not None and host not in self.hosts:
            return f"This workbench does not answer to the name '{host}'."
        if scope["method"] not in {"GET", "HEAD"} and not _from_our_page(headers):
            return "Only pages of this workbench may send."
        return ""


def _name(address: str) -> str:
    """The host that an address names; none where it is no address."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _from_our_page(headers: Headers) -> bool:
    """Whether a browser says that the sending page is one of ours; both headers are out of reach of scripts."""
    try:
        ours = urlsplit(headers.get("origin", "")).netloc == headers.get("host", "") != ""
    except ValueError:
        ours = False
    return ours or headers.get("sec-fetch-site") == "same-origin"


def dress(headers: MutableHeaders, fresh: str | None) -> None:
    """Add the safety headers where a page has not set its own, and the cookie of a new session."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", "no-store")
    if fresh:
        headers.append("set-cookie", cookie(fresh))


def cookie(token: str) -> str:
    """The session cookie: out of reach of scripts and of other sites."""
    return f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict"
