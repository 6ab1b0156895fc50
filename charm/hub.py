"""Models on the Hugging Face hub: download one by its name, upload a saved one. `huggingface_hub` is an optional extra.

A model there is a saved model (config.json, model.safetensors, the files that bind rows to tasks) with a model card.
$HF_ENDPOINT, $HF_HOME and $HF_TOKEN mean what they mean everywhere.
"""

import os
import re
from pathlib import Path
from typing import Any

from charm.errors import CharmError

NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)  # "owner/name"
RUNS = "runs"  # the folder of runs, unless --out names another
FILES = ("*.json", "*.safetensors", "*.npz", "README.md")  # what is downloaded of a model


def is_hub_name(model: str | Path) -> bool:
    """Return whether this is "owner/name" and no path on this machine: not `runs/NAME`, nor in a folder that exists."""
    if not isinstance(model, str) or NAME.fullmatch(model) is None:
        return False
    owner = model.partition("/")[0]
    return owner != RUNS and not Path(owner).exists()


def download(name: str, revision: str | None = None) -> Path:
    """Return the folder of a model on the hub, downloaded or from the local cache."""
    library = _library(name)
    endpoint = os.environ.get("HF_ENDPOINT")
    try:
        return Path(library.snapshot_download(name, revision=revision, allow_patterns=list(FILES), endpoint=endpoint))
    except (OSError, ValueError, library.errors.HfHubHTTPError) as error:  # its others are caused by these
        raise CharmError(f"{name}: no such folder, nor a model on the hub ({_first_line(error)})") from error


def upload(folder: Path, name: str, private: bool = False, message: str = "Upload the model") -> str:
    """Upload the files of a folder to the repository `name`, which is created if missing; returns its address."""
    if not NAME.fullmatch(name):
        raise CharmError(f"a model on the hub is named owner/name, got {name!r}")
    library = _library(name)
    try:
        api = library.HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
        address = str(api.create_repo(name, private=private, exist_ok=True))
        api.upload_folder(repo_id=name, folder_path=folder, commit_message=message)
    except (OSError, ValueError, library.errors.HfHubHTTPError) as error:
        raise CharmError(f"{name}: the model could not be uploaded ({_first_line(error)})") from error
    return address


def _library(name: str) -> Any:
    """Import `huggingface_hub`, or raise an error that explains how to install it."""
    try:
        import huggingface_hub
        import huggingface_hub.errors
    except ImportError as error:
        raise CharmError(
            f"{name}: no such folder, and models on the hub need `pip install 'charm-arc[hub]'`"
        ) from error
    return huggingface_hub


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
