"""Uploads: received in pieces, limited in size and kind, kept for the session that sent them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from foible.classifiers.kinds.archive import whole_model
from foible.classifiers.kinds.recognise import recognise
from foible.errors import FoibleError, ModelError
from foible.files import disk_errors
from foible.store.layout import Layout
from foible.ui.sessions import Session, Upload
from foible.ui.suites import KINDS as PICTURES
from foible.zoo.files import read_model_file

FOIBLE = ".safetensors"  # written by `foible train`: describes itself and holds no code
KINDS = (".onnx", ".pt", ".pt2", ".jit", FOIBLE)


async def receive(request: Request, session: Session, largest: int) -> Upload:
    """Store the body of a request as an upload; nothing is kept of one that is too large or of another kind."""
    name = request.query_params.get("name", "")
    kinds = PICTURES if request.query_params.get("of") == "images" else KINDS
    suffix = Path(name).suffix.lower()
    if suffix not in kinds:
        raise FoibleError(f"a file of kind '{suffix or name[:40]}' is not taken", f"upload one of: {', '.join(kinds)}")
    upload = session.new_upload(name)
    size = 0
    try:
        with disk_errors(upload.path), upload.path.open("wb") as target:
            async for piece in request.stream():
                size += len(piece)
                if size > largest:
                    raise FoibleError(
                        f"the file is larger than {largest / 1e6:,.0f} MB", "start with foible ui --largest-upload"
                    )
                target.write(piece)
        if size == 0:
            raise FoibleError("the file is empty", "choose another one")
        if kinds is KINDS:
            await run_in_threadpool(look_at, upload.path)
    except BaseException:
        shutil.rmtree(upload.path.parent, ignore_errors=True)
        raise
    session.uploads[upload.key] = upload
    return upload


def look_at(path: Path) -> None:
    """Refuse a file that is not what its name says, before anything else touches it; runs no code of the file."""
    if describes_itself(path):
        header, _ = read_model_file(path)
        if header.role != "classifiers":
            raise ModelError(f"'{path.name}' is one of the {header.role}, not a classifier", "upload a classifier")
    elif recognise(str(path), {}).kind == "weights":
        what = "is a whole model saved with torch.save, which may run any code when opened"
        raise ModelError(
            f"'{path.name}' {what if whole_model(path) else 'holds weights without the network they belong to'}",
            "export the whole model: torch.jit.script, torch.export.save or torch.onnx.export",
        )


def models_of(session: Session) -> list[Upload]:
    """The models that a session has sent."""
    return [upload for upload in session.uploads.values() if upload.path.suffix.lower() in KINDS]


def images_of(session: Session) -> list[Upload]:
    """The images that a session has sent."""
    return [upload for upload in session.uploads.values() if upload.path.suffix.lower() in PICTURES]


def describes_itself(path: Path) -> bool:
    """Whether a file is of foible's own kind: it says how it wants its images, and holds no code."""
    return path.suffix.lower() == FOIBLE


def table_of(path: Path) -> dict[str, Any] | str:
    """What a recipe says of an uploaded classifier: anything that can hold code runs in the sandboxed worker."""
    return str(path) if describes_itself(path) else {"use": str(path), "untrusted": True}


def keep_with(upload: Upload, layout: Layout) -> Path:
    """Copy an upload into a run's folder, so that the run can go on when the session is over."""
    with disk_errors(layout.folder):
        layout.folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(upload.path, layout.folder / upload.name))
