"""Paths of downloaded and generated data, and of the models that come with CHARM."""

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from charm.errors import CharmError

RELEASED = Path(__file__).parent / "released"  # trained models, by name
EXAMPLE = Path("examples", "task.json")  # the task of the README's commands, also in the package


def data_dir(override: Path | None = None) -> Path:
    """Return `override`, else $CHARM_DATA, else `charm` in the user's cache folder; refuse a file, create nothing."""
    if chosen := override or os.environ.get("CHARM_DATA"):
        folder = Path(chosen).expanduser()
        if folder.exists() and not folder.is_dir():
            raise CharmError(f"the data folder {folder} is not a folder")
        return folder
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        caches = "~/Library/Caches"
    else:
        caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(caches).expanduser() / "charm"


def keep_compiled_code() -> None:
    """Let torch.compile keep its code in the data folder, where it outlives a restart of the machine.

    Torch names the code after what it was made from: source, options, versions, device. TORCHINDUCTOR_CACHE_DIR goes
    first, and a folder that cannot be written is left alone.
    """
    if "TORCHINDUCTOR_CACHE_DIR" in os.environ:
        return
    with suppress(OSError, CharmError):
        folder = data_dir() / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder.absolute())


def path_given(value: Any, what: str) -> Path:
    """Return the path that a caller of the library gave; raise if it is of another type or cannot name a file."""
    if not isinstance(value, str | os.PathLike):
        raise CharmError(f"{what} must be a name or a path, got {type(value).__name__}")
    if not os.fspath(value):  # it would be the current folder
        raise CharmError(f"{what} must be a name or a path, got an empty text")
    try:
        os.stat(value)
    except (OSError, ValueError) as error:  # ValueError: a zero byte
        if getattr(error, "errno", errno.EINVAL) in (errno.EINVAL, errno.ENAMETOOLONG):
            shown = str(value)[:40]
            raise CharmError(f"{what} cannot be a file name: {shown!r} ({len(str(value)):,} characters)") from None
    return Path(value)


def example_at(path: str | Path) -> Path:
    """Return the path, or the task in the package if this is `examples/task.json` and we are not in a clone."""
    path = Path(path)
    return Path(__file__).parent / path if path == EXAMPLE and not path.exists() else path


def released_model() -> Path:
    """Return the trained model that is used where none is named (charm/released/base/README.md)."""
    return RELEASED / "base"


def model_at(model: str | Path | None) -> Path:
    """Find the folder of a model: a path, the name of one that comes with CHARM, or the default one."""
    if model is None:
        return released_model()
    named = RELEASED / model
    return named if not Path(model).exists() and named.parent == RELEASED and named.is_dir() else Path(model)
