"""Look at a model file before anything reads it: is it there, whole, and no larger inside than outside?

torch files are zip archives. Weights are stored as they are; only the source code inside a TorchScript file is
compressed. So a large compressed member, a name that climbs out of the archive, or more bytes inside than the file has
is never torch's own doing.
"""

from __future__ import annotations

import pickletools
import zipfile
from enum import StrEnum
from pathlib import Path, PurePosixPath

from foible.errors import ModelError

MOST_BYTES = 8 << 30  # a larger model file wants a deliberate choice
MOST_COMPRESSED = 64 << 20  # source code and its debug information
MOST_MEMBERS = 100_000


class Content(StrEnum):
    """What a torch file holds."""

    TORCHSCRIPT = "TorchScript"
    EXPORTED = "an exported program"
    NATIVE = "compiled native code"
    PICKLE = "pickled objects"


def whole_file(path: Path) -> Path:
    """The path of a file that exists, is not empty and not huge."""
    if path.is_dir():
        raise ModelError(f"'{path}' is a folder, expected a model file", "name the file inside it")
    if not path.is_file():
        raise ModelError(f"no model file '{path}'", "check the path")
    size = path.stat().st_size
    if size == 0:
        raise ModelError(f"model file '{path}' is empty (0 bytes)", "export or fetch it again")
    if size > MOST_BYTES:
        raise ModelError(
            f"model file '{path}' has {size / 1e9:.1f} GB, the limit is {MOST_BYTES / 1e9:.1f} GB",
            "load it yourself and hand over the live module",
        )
    return path


def torch_content(path: Path) -> Content:
    """What a file written by torch holds, told from its table of contents alone."""
    whole_file(path)
    with path.open("rb") as opened:
        start = opened.read(4)
    if not start.startswith(b"PK"):
        if start[:1] == b"\x80":
            return Content.PICKLE  # torch.save before version 1.6, or a bare pickle
        raise ModelError(
            f"'{path}' is not a file written by torch", "expected TorchScript, an exported program or a state dict"
        )
    names = _members(path)
    roots = {PurePosixPath(n).parts[1:2] for n in names}
    inner = {"/".join(PurePosixPath(n).parts[1:]) for n in names} | set(names)
    if any(n.endswith((".so", ".cubin")) for n in names):
        return Content.NATIVE
    if "archive_format" in inner or "serialized_exported_program.json" in inner:
        return Content.EXPORTED
    if ("code",) in roots or "constants.pkl" in inner:
        return Content.TORCHSCRIPT
    return Content.PICKLE


def _members(path: Path) -> list[str]:
    """The names in a zip archive, after its table of contents has been found harmless."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ModelError(f"model file '{path}' is truncated or damaged: {error}", "export or fetch it again") from error
    if len(members) > MOST_MEMBERS:
        raise _refused(path, f"{len(members)} members")
    for member in members:
        parts = PurePosixPath(member.filename.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            raise _refused(path, f"a member called '{member.filename[:80]}', which climbs out of the archive")
    packed = sum(m.file_size for m in members if m.compress_type != zipfile.ZIP_STORED)
    if packed > MOST_COMPRESSED:
        raise _refused(path, f"compressed members that unpack to {packed / 1e6:.0f} MB")
    stored = sum(m.file_size for m in members if m.compress_type == zipfile.ZIP_STORED)
    if stored > path.stat().st_size:
        raise _refused(path, "members that claim more bytes than the file has")
    return [m.filename for m in members]


def _refused(path: Path, why: str) -> ModelError:
    return ModelError(
        f"model file '{path}' is refused: it has {why}", "torch writes no such file: save the model again with torch"
    )


def whole_model(path: Path) -> bool:
    """Whether a pickle holds more than named tensors, as `torch.save(model)` does; told without running any of it."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                name = next(n for n in archive.namelist() if n.endswith("data.pkl"))
                content = archive.read(name)[:MOST_COMPRESSED]
        else:
            with path.open("rb") as opened:
                content = opened.read(MOST_COMPRESSED)
        named, texts = set[str](), list[str]()
        for operation, argument, _ in pickletools.genops(content):
            if isinstance(argument, str):
                texts.append(argument)
            if operation.name == "GLOBAL":
                named.add(str(argument).partition(" ")[0])
            elif operation.name == "STACK_GLOBAL":
                named.add(texts[-2] if len(texts) > 1 else "")
    except (OSError, ValueError, StopIteration, zipfile.BadZipFile, EOFError, KeyError):
        return False
    return any(
        not module.startswith(("torch._utils", "torch.storage", "collections")) and module != "torch"
        for module in named
    )
