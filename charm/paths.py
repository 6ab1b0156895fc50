"""Paths of downloaded and generated data, and of the models that come with CHARM."""

from __future__ import annotations

import os
import sys
from pathlib import Path

RELEASED = Path(__file__).parent / "released"  # trained models, by name


def data_dir(override: Path | None = None) -> Path:
    """`override`, else $CHARM_DATA, else `charm` in the user's cache folder; nothing is created."""
    if override is not None:
        return override.expanduser()
    if chosen := os.environ.get("CHARM_DATA"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        caches = "~/Library/Caches"
    else:
        caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "charm"


def released_model() -> Path:
    """The trained model that is used where none is named (charm/released/base/README.md)."""
    return RELEASED / "base"


def model_at(model: str | Path | None) -> Path:
    """The folder of a model: a path, the name of one that comes with CHARM, or the default one."""
    if model is None:
        return released_model()
    named = RELEASED / model
    return named if not Path(model).exists() and named.parent == RELEASED and named.is_dir() else Path(model)
