"""Was this file written here, by this user? A seal beside it says so: a digest that only this user's key can make.

The key is a file in the user's configuration folder, made on first use. A folder that came from elsewhere has no seal
that fits, and neither has one whose file was changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from platformdirs import user_config_path

from foible.errors import StoreError
from foible.files import write_whole

KEY_BYTES = 32


def seal(path: Path) -> None:
    """Note that this file was written here; where no key can be kept it stays unsealed."""
    with contextlib.suppress(OSError, StoreError):
        write_whole(_beside(path), _digest(path, _key(make=True)) + "\n")


def sealed(path: Path) -> bool:
    """Whether this file is as it was when this user sealed it."""
    try:
        return hmac.compare_digest(_beside(path).read_text().strip(), _digest(path, _key(make=False)))
    except (OSError, ValueError, TypeError):
        return False


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.seal")


def _digest(path: Path, key: bytes) -> str:
    return hmac.new(key, path.name.encode() + b"\0" + path.read_bytes(), hashlib.sha256).hexdigest()


def _key(make: bool) -> bytes:
    """This user's key; two processes that make one at the same time agree on whichever was first."""
    folder = os.environ.get("FOIBLE_CONFIG")
    path = (Path(folder) if folder else user_config_path("foible")) / "seal.key"
    if make and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(partial, path)
        partial.unlink()
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise OSError(f"'{path}' is not a key")
    return key
