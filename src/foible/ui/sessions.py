"""Who is looking: one session per browser, each with an upload folder that no other session can name."""

from __future__ import annotations

import hmac
import re
import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from foible.errors import FoibleError
from foible.store.export import safe

COOKIE = "foible_session"
MOST_UPLOADS = 10  # kept per session; the oldest goes first
MOST_SESSIONS = 1000
MOST_HOLDING = 100  # of them with files


@dataclass(frozen=True)
class Upload:
    """A file that one session has sent."""

    key: str
    path: Path

    @property
    def name(self) -> str:
        """The file name as the user knows it."""
        return self.path.name


@dataclass
class Session:
    """One browser: whether it knows the password, and what it has uploaded."""

    folder: Path
    signed_in: bool
    uploads: dict[str, Upload] = field(default_factory=dict)

    def new_upload(self, file_name: str) -> Upload:
        """A place for a file; nothing of the given name but harmless characters is used."""
        while len(self.uploads) >= MOST_UPLOADS:
            oldest = self.uploads.pop(next(iter(self.uploads)))
            shutil.rmtree(oldest.path.parent, ignore_errors=True)
        key = secrets.token_urlsafe(12)
        place = self.folder / key
        place.mkdir(parents=True, mode=0o700)
        name = safe(re.split(r"[/\\]", file_name)[-1])[-80:]
        return Upload(key, place / name)

    def remove(self, key: str) -> None:
        """Forget an upload."""
        shutil.rmtree(self.upload(key).path.parent, ignore_errors=True)
        self.uploads.pop(key, None)

    def upload(self, key: str) -> Upload:
        """An upload of this session."""
        if key not in self.uploads:
            raise FoibleError("the uploaded file is not there any more", "upload it again")
        return self.uploads[key]


class Sessions:
    """All sessions of this server; they end with it, and so do their uploads."""

    def __init__(self, password: str | None) -> None:
        self.password = password
        self.folder = Path(tempfile.mkdtemp(prefix="foible-uploads-"))
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, token: str | None) -> Session | None:
        """The session of a cookie."""
        with self._lock:
            session = self._sessions.get(token or "")
            if session is not None:
                self._sessions.move_to_end(token or "")
            return session

    def begin(self) -> tuple[str, Session]:
        """A new session and its cookie."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._sessions) >= MOST_SESSIONS:
                self._forget_one()
            session = Session(self.folder / secrets.token_urlsafe(12), signed_in=self.password is None)
            self._sessions[token] = session
        return token, session

    def _forget_one(self) -> None:
        """End the session that was idle longest among those without files: nobody can push out another's uploads."""
        idle = next((token for token, session in self._sessions.items() if not session.uploads), None)
        if idle is None:
            raise FoibleError("too many visitors have files here", "try again when one of them is done")
        shutil.rmtree(self._sessions.pop(idle).folder, ignore_errors=True)

    def make_room(self, session: Session) -> None:
        """Before a session takes its first file: not more of them hold files than the disk can bear."""
        with self._lock:
            holding = [s for s in self._sessions.values() if s.uploads and s is not session]
        if not session.uploads and len(holding) >= MOST_HOLDING:
            raise FoibleError("too many visitors have files here", "try again when one of them is done")

    def sign_in(self, password: str) -> str | None:
        """The cookie of a fresh, signed-in session when the password is right."""
        if self.password is None or not hmac.compare_digest(password.encode(), self.password.encode()):
            return None
        token, session = self.begin()
        session.signed_in = True
        return token

    def sign_out(self, token: str | None) -> None:
        """End the session of a cookie, with its uploads."""
        with self._lock:
            ended = self._sessions.pop(token or "", None)
        if ended is not None:
            shutil.rmtree(ended.folder, ignore_errors=True)

    def close(self) -> None:
        """Remove all uploads."""
        shutil.rmtree(self.folder, ignore_errors=True)
