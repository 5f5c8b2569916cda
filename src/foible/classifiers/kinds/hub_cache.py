"""Where timm, torchvision and Hugging Face keep what they have downloaded."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlparse

import torch

from foible.errors import MissingExtra, ModelError


def hub_folder(repository: str, name: str, download: bool) -> Path:
    """The folder of a Hugging Face repository in the user's cache; fetched only when asked for."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise MissingExtra("huggingface_hub", "hub", f"the model '{name}'") from None
    try:
        return Path(
            snapshot_download(repository, allow_patterns=["*.json", "*.safetensors"], local_files_only=not download)
        )
    except HFValidationError as error:
        raise ModelError(f"'{name}' is neither a folder nor a repository name", "check the spelling") from error
    except LocalEntryNotFoundError as error:
        raise not_in_cache(name, download) from error
    except Exception as error:  # the network fails in many ways
        if not download:
            raise
        raise ModelError(
            f"'{name}' could not be downloaded: {error}", "fetch it elsewhere and name the files"
        ) from error


def torch_hub_file(url: str, name: str, download: bool) -> Path:
    """A weights file in torch's hub cache; fetched only when asked for."""
    path = Path(torch.hub.get_dir()) / "checkpoints" / Path(urlparse(url).path).name
    if path.is_file():
        return path
    if not download:
        raise not_in_cache(name, download)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        torch.hub.download_url_to_file(url, str(path), progress=False)
    except OSError as error:
        raise ModelError(
            f"'{name}' could not be downloaded: {error}", "fetch it elsewhere and name the file"
        ) from error
    return path


def not_in_cache(name: str, download: bool) -> ModelError:
    """The error for weights that are not on this machine."""
    if download:
        return ModelError(f"the weights of '{name}' could not be fetched", "fetch them elsewhere and name the files")
    return ModelError(
        f"the weights of '{name}' are not in the cache of this machine, and foible downloads nothing by itself",
        "allow it with download = true (--download), or name a local file: weights = ... (--weights)",
    )
