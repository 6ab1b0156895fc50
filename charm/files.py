"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from charm.errors import CharmError


def write_atomically(path: Path, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    """Write the content, or let it write itself, and only then give the file its name.

    A reader, or a kill at any moment, sees the old file or the new one, never a part. Folders are made as needed.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise CharmError(f"{path} cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):  # where not even its folder could be made
            temporary.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path, work: str) -> Iterator[None]:
    """Keeps a second process at such work out of the folder; the system drops the lock of one that was killed.

    Where there are no such locks, on Windows and some network file systems, nobody is kept out.
    """
    try:
        import fcntl  # Unix only
    except ImportError:
        yield
        return
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CharmError(f"{folder}: another {work} is at work in this folder") from None
        except OSError:  # the file system knows no locks
            pass
        yield
