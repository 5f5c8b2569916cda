"""A careful HTTP client: no redirects, no private addresses unless allowed, limits on time, rate and size, all counted."""

from __future__ import annotations

import ipaddress
import os
import socket
import string
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from foible.errors import MissingExtra, ModelError, RecipeError

AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})  # answers that may be different a moment later
LONGEST_WAIT = 60.0
MOST_BYTES = 64 << 20


@dataclass
class Cost:
    """What an endpoint has cost so far."""

    requests: int = 0
    images: int = 0
    retries: int = 0
    sent_bytes: int = 0
    seconds: float = 0.0


class _NoAnswer(Exception):
    """An answer that may be different a moment later; `wait` is what the server asked for."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


class Connection:
    """One endpoint. The host's address is looked up once and kept, so that a name cannot move to a private address."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        timeout: float,
        retries: int,
        per_second: float | None,
        private: bool,
    ) -> None:
        try:
            import httpx
            import tenacity
        except ImportError as error:
            raise MissingExtra(error.name or "httpx", "http", f"the endpoint '{url}'") from None
        self.url, self.timeout, self.cost = url, timeout, Cost()
        parts = urlsplit(url)
        self._target = _pinned(url, private)
        self._extensions = {"sni_hostname": parts.hostname}
        self._client = httpx.Client(
            headers={**_filled(headers), "Host": parts.netloc},
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
        )
        self._pause, self._free = 1 / per_second if per_second else 0.0, 0.0
        backoff = tenacity.wait_exponential(multiplier=0.2, max=LONGEST_WAIT) + tenacity.wait_random(0, 0.1)
        self._tries = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(retries + 1),
            wait=lambda state: max(backoff(state), min(_asked_wait(state), LONGEST_WAIT)),
            retry=tenacity.retry_if_exception_type((_NoAnswer, httpx.TransportError)),
            reraise=True,
        )

    def post(self, images: int, **body: Any) -> bytes:
        """The answer to one request with so many images, after as many tries as it takes."""
        import httpx

        self.cost.images += images
        begin = time.monotonic()
        try:
            for number, attempt in enumerate(self._tries):
                self.cost.retries += number > 0
                with attempt:
                    return self._once(body)
        except (_NoAnswer, httpx.TransportError) as error:
            raise ModelError(
                f"{self.url} gave no answer after {self.cost.retries} retries in all: {error or type(error).__name__}",
                "is the server up? Raise timeout or retries, or lower batch or per_second; the run can be resumed",
            ) from error
        finally:
            self.cost.seconds += time.monotonic() - begin
        raise AssertionError("unreachable")

    def _once(self, body: dict[str, Any]) -> bytes:
        time.sleep(max(0.0, self._free - time.monotonic()))
        self._free = max(self._free, time.monotonic()) + self._pause
        request = self._client.build_request("POST", self._target, extensions=self._extensions, **body)
        self.cost.requests += 1
        self.cost.sent_bytes += int(request.headers.get("content-length", 0))
        deadline = time.monotonic() + self.timeout
        response = self._client.send(request, stream=True)
        try:
            content = b""
            for part in response.iter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise ModelError(f"{self.url} answers with more than {MOST_BYTES >> 20} MB", "lower the batch")
                if time.monotonic() > deadline:
                    raise _NoAnswer(f"the answer took longer than {self.timeout:g} s")
        finally:
            response.close()
        if response.status_code in AGAIN:
            raise _NoAnswer(f"status {response.status_code}", _seconds(response.headers.get("retry-after", "")))
        if response.status_code != 200:
            raise _refusal(self.url, response.status_code, content, response.headers.get("location"))
        return content

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


def _pinned(url: str, private: bool) -> str:
    """The URL with its host replaced by an address that may be talked to."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RecipeError(f"'{url}' is not an HTTP address", "for example https://models.example/v1/digits:predict")
    if parts.username or parts.password:
        raise RecipeError("the address holds a password", 'use headers = {Authorization = "Bearer ${TOKEN}"}')
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise ModelError(f"the host '{parts.hostname}' cannot be found: {error}", "check the address") from error
    addresses = [str(entry[4][0]) for entry in found]
    closed = [a for a in addresses if not ipaddress.ip_address(a.partition("%")[0]).is_global]
    if closed and not private:
        raise ModelError(
            f"'{parts.hostname}' is at {closed[0]}, an address of this machine or of a private network",
            "allow it with private = true (--private)",
        )
    host = f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
    return urlunsplit((parts.scheme, f"{host}:{port}", parts.path or "/", parts.query, ""))


def _filled(headers: Mapping[str, str]) -> dict[str, str]:
    try:
        return {name: string.Template(text).substitute(os.environ) for name, text in headers.items()}
    except KeyError as error:
        raise RecipeError(
            f"a header asks for the environment variable {error}, which is not set", f"export {error.args[0]}=..."
        ) from None
    except ValueError as error:
        raise RecipeError(f"a header cannot be filled in: {error}", "write $$ for a dollar sign") from None


def _asked_wait(state: Any) -> float:
    return float(getattr(state.outcome.exception(), "wait", 0.0))


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0


def _refusal(url: str, status: int, content: bytes, location: str | None) -> ModelError:
    if location:
        return ModelError(f"{url} redirects to {location}", "redirects are not followed: name the final address")
    hint = {401: "it wants credentials: headers", 403: "it refuses the credentials", 404: "check the path"}
    return ModelError(
        f"{url} answered with status {status}: {content[:120].decode(errors='replace')}",
        hint.get(status, "check what it expects: send, field, batch"),
    )
