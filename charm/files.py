"""Files that are written whole or not at all, and that show later damage."""

import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from glob import escape
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from charm.errors import CharmError, charm_errors

SEAL = "record_sha256"  # the field of a sealed record that holds the hash of the other fields
MOST_DIGITS, MOST_LEVELS = 40, 50  # of an integer and of nested lists in a file of ours
RECORD = "checkpoint.json"  # in the folder of a checkpoint or a saved model: size and hash of its files


def write_atomically(path: Path, content: bytes | str | Callable[[BinaryIO], object]) -> None:
    """Write the content to a temporary file, then rename it. The content may be a function that writes.

    After a kill at any moment, readers see the old file or the new one, never a part. Folders are created as needed.
    A link stays, and the file that it names is written. A device or a pipe is refused: a rename would replace it.
    """
    if os.path.islink(path):
        path = Path(os.path.realpath(path))
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise CharmError(f"{path} cannot be written (not a regular file)")
    temporary = _temporary(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
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
        with suppress(OSError):  # if not even its folder could be created
            temporary.unlink(missing_ok=True)


def require_ending(path: Path, what: str, ending: str) -> None:
    """Refuse to write `what` under a name without this ending: a mistyped name could be that of another file."""
    if path.suffix.lower() != ending:
        raise CharmError(f"{path}: the name of {what} must end in {ending}")


def readable_like_its_folder(file: Path) -> None:
    """Give a file its folder's permissions; safetensors creates files that only the owner can read."""
    file.chmod(file.parent.stat().st_mode & 0o666)


def _temporary(path: Path) -> Path:
    """Make a new name under which a file or folder is written. It shows others whether its maker is still running.

    It cannot be guessed, so no link can be put there, and two threads never share one.
    """
    return path.parent / f"{path.name}.{secrets.token_hex(4)}.{socket.gethostname()}-{os.getpid()}.tmp"


def sweep(folder: Path, pattern: str = "**/*") -> None:
    """Remove what killed processes left behind when they were writing files or folders of this folder."""
    for path in list(folder.glob(f"{pattern}.tmp")):
        if _is_orphan(path.name):
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, a folder with its content or a link, but not what the link names; do nothing where none is."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


def _is_orphan(name: str) -> bool:
    """Return whether a temporary name belongs to a process of this machine that has ended."""
    found = re.search(rf"{re.escape(socket.gethostname())}-(\d+)\.\w+$", name)
    if found is None:
        return False
    with suppress(PermissionError):  # it belongs to another user
        try:
            os.kill(int(found[1]), 0)
        except (ProcessLookupError, OverflowError):
            return True
    return False


def fingerprint(file: Path) -> dict[str, Any]:
    """Return size and hash of a file."""
    with file.open("rb") as stream:
        return {"bytes": file.stat().st_size, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def check_files(folder: Path, listed: Mapping[str, Any], names: Iterable[str]) -> None:
    """Compare files with their recorded fingerprints; raise a CharmError for the first that differs."""
    for name in names:
        file = folder / name
        if name not in listed:
            raise CharmError(f"{folder}: {name} is not listed in the record of its files")
        if not file.is_file():
            raise CharmError(f"{folder}: {name} is missing")
        known = listed[name]
        same_size = isinstance(known, dict) and file.stat().st_size == known.get("bytes")
        if not same_size or fingerprint(file) != known:
            raise CharmError(f"{folder}: {name} is truncated or damaged")


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """Add a hash of itself to the record, so that a reader can detect damage."""
    return {**record, SEAL: _digest(record)}


def unseal(record: Any, where: Path) -> Any:
    """Remove the seal of a record, which must match it. Records without one pass, such as those of released models."""
    if not isinstance(record, dict) or SEAL not in record:
        return record
    content = {name: value for name, value in record.items() if name != SEAL}
    if _digest(content) != record[SEAL]:
        raise CharmError(f"{where}: the content does not match its hash; the file was damaged or edited")
    return content


def write_sealed(path: Path, record: Mapping[str, Any]) -> None:
    """Write a sealed record as JSON."""
    write_atomically(path, json.dumps(seal(record), indent=2) + "\n")


def read_sealed(path: Path) -> dict[str, Any]:
    """Read a JSON object and check its seal, if it has one."""
    record = unseal(read_json(path), path)
    if not isinstance(record, dict):
        raise CharmError(f"{path}: expected a JSON object, got {type(record).__name__}")
    return record


def read_json(path: Path) -> Any:
    """Read a JSON file strictly (`parse_json`)."""
    with charm_errors(f"{path}: not readable", OSError):
        return parse_json(path.read_bytes(), path)


def parse_json(text: str | bytes, where: object) -> Any:
    """Parse JSON that may be damaged or hostile; whatever no file of ours contains is a CharmError.

    That is: a syntax error, a name that appears twice in an object, an integer of very many digits, which later
    arithmetic could not handle, and deep nesting.
    """
    with charm_errors(f"{where}: not readable", ValueError, RecursionError):
        value = json.loads(text, parse_int=_short_integer, object_pairs_hook=without_repeats)
        _check_levels(value, MOST_LEVELS)
    return value


def without_repeats(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the items of a JSON object as a dict. Python's own reader silently keeps the last of two equal names."""
    result = dict(items)
    if len(result) < len(items):
        repeated = Counter(name for name, _ in items).most_common(1)[0][0]
        raise ValueError(f"'{repeated}' appears twice in an object")
    return result


def _short_integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def _check_levels(value: Any, left: int) -> None:
    if not left:
        raise ValueError(f"more than {MOST_LEVELS} levels")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, dict | list):
            _check_levels(inner, left - 1)


def _digest(record: Mapping[str, Any]) -> str:
    # Convert to JSON and back, so that written and read values have the same types.
    plain = json.loads(json.dumps(record))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder that becomes `target` if the block succeeds; an empty folder may be there already.

    Neither Ctrl-C nor SIGTERM leaves it behind. What a killed process left, the next one removes.
    """
    scratch = _temporary(target)
    with terminates_as_interrupt():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep(target.parent, f"{escape(target.name)}.*")
            scratch.mkdir()
            yield scratch
            if target.exists():
                target.rmdir()
            scratch.rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


class Terminated(KeyboardInterrupt):
    """SIGTERM came."""


@contextmanager
def terminates_as_interrupt() -> Iterator[None]:
    """Make SIGTERM raise `Terminated`, a KeyboardInterrupt, unless it is handled already."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Terminated

    before = signal.getsignal(signal.SIGTERM)
    if before is not signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def lock_folder(folder: Path, work: str) -> AbstractContextManager[None]:
    """Lock a folder against a second process that does the same work."""
    return lock_file(folder / ".lock", f"{folder}: this folder is in use by another {work}")


@contextmanager
def lock_file(path: Path, refusal: str, stays: bool = True) -> Iterator[None]:
    """Hold the lock of this file, which may stay; the system releases the lock of a killed process."""
    try:
        import fcntl  # Unix only
    except ImportError:
        yield
        return
    with os.fdopen(_open_lock(path), "rb", 0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CharmError(refusal) from None
        except OSError:  # the file system does not support locks
            pass
        if not stays and not (path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())):
            raise CharmError(refusal)  # its holder has just removed it, and another may have a new one
        try:
            yield
        finally:
            if not stays:
                path.unlink(missing_ok=True)


def _open_lock(path: Path) -> int:
    """Open a lock file, created as needed. Its content stays, and a link is refused: it could name any file."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except PermissionError as error:
        if not path.exists():
            raise
        owner = "another user"
        with suppress(OSError, KeyError):  # a user without a name
            owner = path.owner()
        raise CharmError(
            f"the lock file {path} belongs to {owner} and cannot be opened ({error.strerror}); choose another --out, "
            "or delete the lock file if no one is using it"
        ) from error
    except OSError as error:
        if not os.path.lexists(path):
            raise
        raise CharmError(f"the lock file {path} is not a regular file ({error.strerror}); delete it") from error
